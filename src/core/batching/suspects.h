// Guests whose inferences fail batches: they are in none until they have succeeded by themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wasinn::core {

// One thread at a time. Guests are known by their numbers, which no other guest has after them.
class Suspects {
 public:
  Suspects() { kept_.reserve(kMost); }

  // One that fails by itself, too, or takes too long, after it has failed a batch, spoils no further one: until one of its
  // inferences succeeds in time, the next time two, and so on: it never spoils batches again and again.
  void Set(uint64_t guest, bool suspect) noexcept;
  bool Has(uint64_t guest) const noexcept;

 private:
  static constexpr size_t kMost = 64;
  struct Suspect {
    uint64_t guest;
    uint32_t offences = 0;        // batches that it has failed
    uint32_t successes_left = 0;  // until it is in batches again
  };
  std::vector<Suspect> kept_;  // in the order in which they came
};

}  // namespace wasinn::core
