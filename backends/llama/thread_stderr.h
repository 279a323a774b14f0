// What a library prints to stderr on one thread.
#pragma once

#include <string>

namespace wasinn::llama {

// Gives the calling thread file descriptors of its own, of which 2 is memory: what other threads print stays where it
// goes. For a thread that ends soon. Where the system does not allow it, it does nothing.
class ThreadStderr {
 public:
  ThreadStderr();
  ~ThreadStderr();
  ThreadStderr(const ThreadStderr&) = delete;
  ThreadStderr& operator=(const ThreadStderr&) = delete;

  // The beginning of what was printed.
  std::string Take() const;

 private:
  int memory_ = -1;
};

}  // namespace wasinn::llama
