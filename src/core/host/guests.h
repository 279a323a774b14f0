// The guests of a host that are open, and what those did that are closed.
#pragma once

#include <wasinn/wasinn.h>

#include <cstddef>
#include <mutex>
#include <set>

namespace wasinn::core {

class Guest;

// Any thread. A guest is here no longer than it lives.
class Guests {
 public:
  void Join(const Guest& guest);
  // What it did is counted here from now on. May be called again.
  void Leave(const Guest& guest) noexcept;

  // Of all guests together. What is held, of those that are open.
  struct Sum {
    size_t open = 0;
    uint64_t graphs = 0, contexts = 0, tensors = 0, model_bytes = 0, tensor_bytes = 0;
    uint64_t copies_in = 0, copies_out = 0, bytes_in = 0, bytes_out = 0, model_bytes_copied = 0;
  };
  Sum Read() const;

 private:
  static void AddWhatItDid(const wasinn_statistics& stats, Sum& sum);

  mutable std::mutex mutex_;  // of what follows
  std::set<const Guest*> open_;
  Sum closed_;
};

}  // namespace wasinn::core
