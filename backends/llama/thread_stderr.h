// Captures a thread's stderr.
#pragma once

#include <string>

namespace wasinn::llama {

// Gives the calling thread its own descriptors, with memory as number 2: other threads' output is not affected. For a
// thread that ends soon. Does nothing if the system does not allow it.
class ThreadStderr {
 public:
  ThreadStderr();
  ~ThreadStderr();
  ThreadStderr(const ThreadStderr&) = delete;
  ThreadStderr& operator=(const ThreadStderr&) = delete;

  // The beginning of the output.
  std::string Take() const;

 private:
  int memory_ = -1;
};

}  // namespace wasinn::llama
