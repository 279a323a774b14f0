// How long computes of a model take, by the shape of their rows: what takes far longer has something in it that does not belong there.
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
  // As long as nobody knows how long such computes take.
  static constexpr std::chrono::seconds kUnknown{5};

  // What takes longer is too long.
  Duration LimitOf(std::string_view shape, uint32_t rows) const noexcept;
  // Of one that has succeeded. One that took too long teaches little at a time: nobody makes the others wait by a single one.
  void Learn(std::string_view shape, uint32_t rows, Duration took) noexcept;

 private:
  // The longest of the last ones took about so long, and so long for each row.
  struct Usual {
    size_t shape = 0;  // its hash: shapes are guests' to choose, and two that are mixed up only share a limit
    Duration whole{0}, row{0};
    uint64_t learnt = 0;  // when; 0: never
  };
  static constexpr size_t kKept = 64;
  static Duration Limit(const Usual& usual, uint32_t rows) noexcept;
  const Usual* Find(size_t shape) const noexcept;

  std::array<Usual, kKept> kept_{};
  uint64_t lessons_ = 0;
};

}  // namespace wasinn::core
