// The open guests of a host, and the totals of the closed ones.
#pragma once

#include <wasinn/wasinn.h>

#include <cstddef>
#include <mutex>
#include <set>

namespace wasinn::core {

class Guest;

// Thread-safe. A guest leaves before it is destroyed.
class Guests {
 public:
  void Join(const Guest& guest);
  // Adds the guest's work to the totals. May be called again.
  void Leave(const Guest& guest) noexcept;

  // Sums over all guests. "Held" sums are over open guests only.
  struct Sum {
    size_t open = 0;
    uint64_t graphs = 0, contexts = 0, tensors = 0, model_bytes = 0, tensor_bytes = 0;
    uint64_t copies_in = 0, copies_out = 0, bytes_in = 0, bytes_out = 0, model_bytes_copied = 0;
  };
  Sum Read() const;

 private:
  static void AddWhatItDid(const wasinn_statistics& stats, Sum& sum);

  mutable std::mutex mutex_;  // guards the members below
  std::set<const Guest*> open_;
  Sum closed_;
};

}  // namespace wasinn::core
