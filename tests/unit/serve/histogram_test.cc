// Percentiles of histograms, and statistics of them.
#include "core/metrics/histogram.h"
#include "serve/models/statistics.h"
#include "support/test.h"

namespace wasinn::serve {
namespace {

constexpr uint64_t kMs = 1'000'000;

using core::Histogram;

Histogram::Sum SumOf(const std::vector<uint64_t>& times) {
  Histogram histogram;
  for (const uint64_t ns : times) histogram.Observe(std::chrono::nanoseconds(ns));
  Histogram::Sum sum;
  sum.Add(histogram);
  return sum;
}

TEST(Percentiles, NothingHasNoTime) {
  EXPECT_EQ(SumOf({}).count(), 0u);
  EXPECT_EQ(SumOf({}).Percentile(0.5), 0);
}

TEST(Percentiles, OneTimeLiesInItsBucket) {
  const Histogram::Sum sum = SumOf({30 * kMs});
  for (const double share : {0.0, 0.01, 0.5, 0.99, 1.0}) {
    EXPECT_GT(sum.Percentile(share), 25 * kMs);
    EXPECT_LE(sum.Percentile(share), 50 * kMs);
  }
}

TEST(Percentiles, PercentilesAreExactIfTimesAreEvenInABucket) {
  std::vector<uint64_t> times;
  for (uint64_t i = 1; i <= 1000; ++i) times.push_back(i * kMs);
  for (const double share : {0.1, 0.5, 0.9}) EXPECT_NEAR(SumOf(times).Percentile(share), share * 1000 * kMs, 10 * kMs);
}

TEST(Percentiles, AFewThatAreSlowAreThoseAboveTheirShare) {
  std::vector<uint64_t> times(990, kMs);
  times.insert(times.end(), 10, 1000 * kMs);
  EXPECT_LE(SumOf(times).Percentile(0.99), kMs);
  EXPECT_GT(SumOf(times).Percentile(0.991), 500 * kMs);
}

TEST(Percentiles, TheyNeverFallAndEndAtTheLastBound) {
  std::vector<uint64_t> times;
  for (uint64_t ns = 1; ns < uint64_t{1} << 40; ns = ns * 9 / 7 + 1) times.push_back(ns);
  const Histogram::Sum sum = SumOf(times);
  double last = 0;
  for (int i = 0; i <= 1000; ++i) {
    EXPECT_GE(sum.Percentile(i / 1000.0), last);
    last = sum.Percentile(i / 1000.0);
  }
  EXPECT_EQ(last, static_cast<double>(Histogram::kBounds.back().count()));
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
  EXPECT_EQ(first.latencies.count(), 1u);
  EXPECT_LE(first.latencies.Percentile(0.99), 2.5 * kMs);
  EXPECT_GT(second.latencies.Percentile(0.99), 5 * kMs);
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
  EXPECT_EQ(statistics.Look("m", 1).latencies.count(), 0u);
}

}  // namespace
}  // namespace wasinn::serve
