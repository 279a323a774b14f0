// Guests whose inferences fail batches. They join no batch until they have succeeded by themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wasinn::core {

// One thread at a time. Guests are identified by their numbers, which are never reused.
class Suspects {
 public:
  Suspects() { kept_.reserve(kMost); }

  // Suspects a guest that failed a batch and then fails by itself, too, or takes too long. It joins no batch until one
  // of its inferences succeeds in time; the next time two must succeed, and so on. So it never keeps failing batches.
  void Set(uint64_t guest, bool suspect) noexcept;
  bool Has(uint64_t guest) const noexcept;

 private:
  static constexpr size_t kMost = 64;
  struct Suspect {
    uint64_t guest;
    uint32_t offences = 0;        // batches that it has failed
    uint32_t successes_left = 0;  // until it may join batches again
  };
  std::vector<Suspect> kept_;  // in order of arrival
};

}  // namespace wasinn::core
