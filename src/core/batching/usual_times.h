// How long computes of a model take, by the shape of their rows. A compute that takes far longer is suspicious.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wasinn::core {

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
