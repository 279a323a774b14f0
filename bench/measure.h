// Measures times and rates of runners.
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
  uint64_t iterations = 0;  // 0: only the time counts
};

double Median(std::vector<double> values);

// The times of single inferences, in nanoseconds.
using Samples = std::vector<uint32_t>;

// Percentiles in microseconds, for these shares of the samples.
struct Percentiles {
  double p50 = 0, p90 = 0, p99 = 0;
};
Percentiles PercentilesUs(Samples samples);

// Times each inference of each runner. The runners take turns of a few milliseconds, so that other work of the machine
// affects all of them. Each turn begins with an inference that is not timed, because the caches have the data of
// another runner.
Result<std::vector<Samples>> MeasureLatency(std::span<Runner* const> runners, const Budget& budget);

// The rate of several runners at once, one thread each.
struct Together {
  double per_s = 0;  // of all runners together
  Samples samples;
};
// `begin`, if any, is called between the first inference of each runner, which is not timed, and all others.
Result<Together> MeasureTogether(std::span<Runner* const> runners, const Budget& budget, std::span<const int> cpus,
                                 const std::function<void()>& begin = {});

// The rates of two sides, which take turns.
struct Rates {
  double a = 0, b = 0;  // inferences per second, medians of all turns
  double ratio = 0;     // b to a: the median of the ratios of all pairs of turns
  // the median distance of a's turns from their median, as a share of it: the noise of the machine
  double spread = 0;
  Samples samples_a, samples_b;
};
Result<Rates> MeasureRates(std::span<Runner* const> a, std::span<Runner* const> b, const Budget& budget,
                           std::span<const int> cpus);

// Lets the calling thread only run on these CPUs; empty: no change.
Result<void> PinTo(std::span<const int> cpus);

}  // namespace wasinn::bench
