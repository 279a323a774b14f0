// Counts times for a Prometheus histogram.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "core/memory/copy.h"

namespace wasinn::core {

// One thread at a time adds to it, any thread may read it.
class Histogram {
 public:
  // From a microsecond, the time of the smallest model's compute, to the longest usual deadlines.
  static constexpr std::array<std::chrono::nanoseconds, 24> kBounds = [] {
    std::array<std::chrono::nanoseconds, 24> bounds{};
    std::chrono::nanoseconds decade(1000);
    for (size_t i = 0; i < bounds.size(); i += 3, decade *= 10) {
      bounds[i] = decade;
      bounds[i + 1] = decade * 5 / 2;
      bounds[i + 2] = decade * 5;
    }
    return bounds;
  }();

  void Observe(std::chrono::nanoseconds duration) {
    const auto bound = std::ranges::lower_bound(kBounds, duration);
    CountOne(buckets_[static_cast<size_t>(bound - kBounds.begin())]);
    CountOne(nanoseconds_, static_cast<uint64_t>(duration.count()));
  }

  // The sum of several histograms.
  struct Sum {
    std::array<uint64_t, kBounds.size() + 1> buckets{};  // the last one has no upper bound
    uint64_t nanoseconds = 0;

    void Add(const Histogram& one) {
      for (size_t i = 0; i < buckets.size(); ++i) buckets[i] += one.buckets_[i].load(std::memory_order_relaxed);
      nanoseconds += one.nanoseconds_.load(std::memory_order_relaxed);
    }
    uint64_t count() const { return std::accumulate(buckets.begin(), buckets.end(), uint64_t{0}); }
    // The time, in nanoseconds, that a share of all (0 to 1) did not exceed, interpolated in a bucket; 0: no times.
    double Percentile(double share) const {
      const auto all = static_cast<double>(count());
      const double rank = std::clamp(std::ceil(share * all), 1.0, std::max(all, 1.0));
      double below = 0, begin = 0;
      for (size_t i = 0; i < kBounds.size(); ++i) {
        const auto here = static_cast<double>(buckets[i]), end = static_cast<double>(kBounds[i].count());
        if (here > 0 && below + here >= rank) return begin + (end - begin) * (rank - below) / here;
        below += here;
        begin = end;
      }
      return all > 0 ? begin : 0;
    }
  };

 private:
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> buckets_{};
  std::atomic<uint64_t> nanoseconds_{0};
};

}  // namespace wasinn::core
