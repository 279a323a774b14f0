// Guests whose inferences fail batches, and the usual time of computes: a batch must expect both.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace wasinn::core {

// Guests whose inferences fail batches. They join no batch until they have succeeded by themselves.
// One thread at a time. Guests are identified by their numbers, which are never reused.
class Suspects {
 public:
  Suspects() { kept_.reserve(kMax); }

  // Suspects a guest that failed a batch and then fails by itself, too, or takes too long. It joins no batch until one
  // of its inferences succeeds in time; the next time two must succeed, and so on. So it never keeps failing batches.
  void Set(uint64_t guest, bool suspect) noexcept;
  bool Has(uint64_t guest) const noexcept;

 private:
  static constexpr size_t kMax = 64;
  struct Suspect {
    uint64_t guest;
    uint32_t offences = 0;        // batches that it has failed
    uint32_t successes_left = 0;  // until it may join batches again
  };
  std::vector<Suspect> kept_;  // in order of arrival
};

// How long computes of a model take, by the shape of their rows. A compute that takes far longer is suspicious.
// One thread at a time.
class UsualTimes {
 public:
  using Duration = std::chrono::nanoseconds;
  // The limit until the time of such computes is known.
  static constexpr std::chrono::seconds kUnknown{5};

  // A longer compute takes too long.
  Duration LimitOf(std::string_view shape, uint32_t rows) const noexcept;
  // Learns from a success. One that took too long raises the limit only a little, so that others do not wait for long.
  void Learn(std::string_view shape, uint32_t rows, Duration took) noexcept;

 private:
  // About the longest of the recent computes, whole and for each row.
  struct Usual {
    size_t shape = 0;  // its hash: guests choose shapes, and two with one hash only share a limit
    Duration whole{0}, row{0};
    uint64_t learnt = 0;  // sequence number of the last lesson; 0: never
  };
  static constexpr size_t kKept = 64;
  static Duration Limit(const Usual& usual, uint32_t rows) noexcept;
  const Usual* Find(size_t shape) const noexcept;

  std::array<Usual, kKept> kept_{};
  uint64_t lessons_ = 0;
};

}  // namespace wasinn::core
