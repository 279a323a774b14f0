// Time and counts of runners.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bench/runner.h"

namespace wasinn::bench {

// How long to measure: for a time, or a number of inferences of each runner.
struct Budget {
  double seconds = 0;
  uint64_t iterations = 0;  // 0: by the time
};

// What single inferences took, in nanoseconds.
using Samples = std::vector<uint32_t>;

// Times, in microseconds, that shares of the samples did not exceed.
struct Percentiles {
  double p50 = 0, p90 = 0, p99 = 0;
};
Percentiles PercentilesUs(Samples samples);

// Times each inference of each runner. The runners take turns of a few milliseconds, so that whatever else the machine
// does falls on all of them; each turn begins with an inference that is not timed, for its caches were another
// runner's.
Result<std::vector<Samples>> MeasureLatency(std::span<Runner* const> runners, const Budget& budget);

// Several runners at once, one thread each.
struct Together {
  double per_s = 0;  // inferences of all
  Samples samples;
};
// `begin`, if any, is called between the runners' first inferences, which are not timed, and all others.
Result<Together> MeasureTogether(std::span<Runner* const> runners, const Budget& budget, std::span<const int> cpus,
                                 const std::function<void()>& begin = {});

// The same of two sides, which take turns.
struct Rates {
  double a = 0, b = 0;  // inferences per second, medians of all turns
  double ratio = 0;     // b to a: the median of what each pair of turns says
  double spread = 0;    // half of a's turns were further from their median, as a share of it: what the machine adds
  Samples samples_a, samples_b;
};
Result<Rates> MeasureRates(std::span<Runner* const> a, std::span<Runner* const> b, const Budget& budget,
                           std::span<const int> cpus);

// Lets the calling thread run on these CPUs only; none: no change.
Result<void> PinTo(std::span<const int> cpus);

}  // namespace wasinn::bench
