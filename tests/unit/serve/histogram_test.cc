// Percentiles of times that were counted in ranges, and what statistics tell of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "serve/histogram.h"
#include "serve/statistics.h"

namespace wasinn::serve {
namespace {

constexpr uint64_t kMs = 1'000'000;

Histogram::Counts CountsOf(const std::vector<uint64_t>& times) {
  Histogram histogram;
  for (const uint64_t ns : times) histogram.Add(ns);
  return histogram.Look();
}

TEST(Histogram, NothingHasNoTime) {
  const Histogram::Counts counts = CountsOf({});
  EXPECT_EQ(counts.total(), 0u);
  EXPECT_EQ(counts.Percentile(0.5), 0);
}

TEST(Histogram, OneTimeIsEveryPercentileToAFourth) {
  for (uint64_t ns = 1024; ns < uint64_t{1} << 36; ns += ns / 3) {
    const Histogram::Counts counts = CountsOf({ns});
    for (const double share : {0.0, 0.01, 0.5, 0.99, 1.0}) {
      EXPECT_NEAR(counts.Percentile(share), static_cast<double>(ns), 0.25 * static_cast<double>(ns)) << share;
    }
  }
}

TEST(Histogram, PercentilesOfEvenTimes) {
  Histogram histogram;
  for (uint64_t i = 1; i <= 1000; ++i) histogram.Add(i * kMs);
  const Histogram::Counts counts = histogram.Look();
  EXPECT_EQ(counts.total(), 1000u);
  for (const double share : {0.1, 0.5, 0.9}) {
    EXPECT_NEAR(counts.Percentile(share), share * 1000 * kMs, 10 * kMs)
        << share;  // what lies evenly in a range is told exactly
  }
}

TEST(Histogram, AFewThatAreSlowAreThoseAboveTheirShare) {
  std::vector<uint64_t> times(990, kMs);
  times.insert(times.end(), 10, 1000 * kMs);
  const Histogram::Counts counts = CountsOf(times);
  EXPECT_LT(counts.Percentile(0.99), 2 * kMs);
  EXPECT_GT(counts.Percentile(0.991), 700 * kMs);
}

TEST(Histogram, PercentilesNeverFall) {
  Histogram histogram;
  for (uint64_t ns = 1; ns < uint64_t{1} << 40; ns = ns * 9 / 7 + 1) histogram.Add(ns);
  const Histogram::Counts counts = histogram.Look();
  double last = 0;
  for (int i = 0; i <= 1000; ++i) {
    EXPECT_GE(counts.Percentile(i / 1000.0), last);
    last = counts.Percentile(i / 1000.0);
  }
}

TEST(Histogram, ShortestAndLongest) {
  const Histogram::Counts shortest = CountsOf({0, 1, 1023});
  EXPECT_EQ(shortest.total(), 3u);
  EXPECT_LE(shortest.Percentile(1), 1024);
  const Histogram::Counts longest = CountsOf({std::numeric_limits<uint64_t>::max(), uint64_t{1} << 36});
  EXPECT_EQ(longest.total(), 2u);
  EXPECT_EQ(longest.Percentile(0.5), std::ldexp(1.0, 36));
}

TEST(Histogram, ThreadsLoseNothing) {
  constexpr int kThreads = 4, kTimes = 20'000;
  Histogram histogram;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&histogram] {
        for (int n = 0; n < kTimes; ++n) histogram.Add(kMs);
      });
    }
  }
  EXPECT_EQ(histogram.Look().total(), uint64_t{kThreads} * kTimes);
}

wasinn_span Inference(const char* model, uint32_t version, wasinn_code code, uint64_t ns) {
  wasinn_span span = {};
  span.struct_size = sizeof span;
  span.code = code;
  span.name = "inference";
  span.duration_ns = ns;
  span.inference = 1;
  span.model = model;
  span.version = version;
  return span;
}

TEST(Statistics, LatenciesAreThoseOfSuccessByModelAndVersion) {
  Statistics statistics;
  statistics.Add(Inference("m", 1, WASINN_OK, 2 * kMs));
  statistics.Add(Inference("m", 1, WASINN_ERROR_TIMEOUT, 5000 * kMs));
  statistics.Add(Inference("m", 2, WASINN_OK, 8 * kMs));
  const Statistics::Seen first = statistics.Look("m", 1), second = statistics.Look("m", 2);
  EXPECT_EQ(first.succeeded, 1u);
  EXPECT_EQ(first.failed, 1u);
  EXPECT_EQ(first.latencies.total(), 1u);
  EXPECT_NEAR(first.latencies.Percentile(0.99), 2 * kMs, 0.25 * 2 * kMs);
  EXPECT_NEAR(second.latencies.Percentile(0.99), 8 * kMs, 0.25 * 8 * kMs);
  EXPECT_EQ(statistics.Look("none", 1).succeeded, 0u);
}

TEST(Statistics, StepsAndLoadsAreNoInferences) {
  Statistics statistics;
  for (const char* name : {"queue", "compute_infer", "load"}) {
    wasinn_span span = Inference("m", 1, WASINN_OK, kMs);
    span.name = name;
    statistics.Add(span);
  }
  EXPECT_EQ(statistics.Look("m", 1).succeeded, 0u);
  EXPECT_EQ(statistics.Look("m", 1).latencies.total(), 0u);
}

}  // namespace
}  // namespace wasinn::serve
