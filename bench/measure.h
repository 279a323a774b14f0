// Time and counts of runners.
#pragma once

#include <cstdint>
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

// The time, in microseconds, that a share of the samples did not exceed; sorts them.
double PercentileUs(Samples& samples, double share);

// Times each inference of each runner. The runners take turns of a few milliseconds, so that whatever else the machine
// does falls on all of them; each turn begins with an inference that is not timed, for its caches were another
// runner's.
Result<std::vector<Samples>> MeasureLatency(std::span<Runner* const> runners, const Budget& budget);

// Inferences per second of several runners at once, one thread each; `a` and `b` take turns.
struct Rates {
  double a = 0, b = 0;  // medians of all turns
  double ratio = 0;     // b to a: the median of what each pair of turns says
};
Result<Rates> MeasureRates(std::span<Runner* const> a, std::span<Runner* const> b, const Budget& budget,
                           std::span<const int> cpus);

// Lets the calling thread run on these CPUs only; none: no change.
Result<void> PinTo(std::span<const int> cpus);

}  // namespace wasinn::bench
