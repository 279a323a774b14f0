// How long things took, as counts of fixed ranges of time, from which percentiles are told.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace wasinn::serve {

// Any thread, without a lock. Each range is a quarter of an octave, so that a percentile is off by no more than a fourth.
class Histogram {
 public:
  void Add(uint64_t ns) { counts_[RangeOf(ns)].fetch_add(1, std::memory_order_relaxed); }

  // What was counted by the time of a call, for several questions about the same.
  class Counts {
   public:
    uint64_t total() const { return total_; }
    // The time, in ns, that a share of all (0 to 1) did not pass. 0 where nothing was counted.
    double Percentile(double share) const;

   private:
    friend class Histogram;
    std::array<uint64_t, 106> counts_{};
    uint64_t total_ = 0;
  };
  Counts Look() const;

 private:
  // From 1.024 us to 68.7 s, with a range below and one above.
  static constexpr size_t kFirst = 10, kLast = 36, kParts = 4;
  static constexpr size_t kRanges = (kLast - kFirst) * kParts + 2;
  static_assert(kRanges == std::tuple_size_v<decltype(Counts::counts_)>);

  static size_t RangeOf(uint64_t ns);
  // Where a range begins, in ns.
  static uint64_t Begin(size_t range);

  std::array<std::atomic<uint64_t>, kRanges> counts_{};
};

}  // namespace wasinn::serve
