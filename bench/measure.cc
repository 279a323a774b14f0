#include "bench/measure.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

namespace wasinn::bench {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

// The median distance from the median, divided by the median.
double Spread(std::vector<double> values) {
  const double median = Median(values);
  for (double& value : values) value = std::abs(value - median);
  return Median(std::move(values)) / median;
}

uint32_t InNanoseconds(Clock::duration duration) {
  const int64_t ns = std::chrono::nanoseconds(duration).count();
  return static_cast<uint32_t>(std::min<int64_t>(ns, UINT32_MAX));
}

// The seconds of one inference, after a first one.
Result<double> Estimate(Runner& runner) {
  constexpr int kWarmUp = 3;
  constexpr double kEnough = 0.02;
  uint64_t runs = 0;
  Clock::time_point start;
  do {
    if (runs == kWarmUp) start = Clock::now();
    if (!runner.Run()) return std::unexpected(runner.error());
  } while (++runs <= kWarmUp || Seconds(Clock::now() - start) < kEnough);
  return Seconds(Clock::now() - start) / static_cast<double>(runs - kWarmUp);
}

bool Turn(Runner& runner, uint64_t inferences, Samples& samples) {
  if (!runner.Run()) return false;
  for (uint64_t i = 0; i < inferences; ++i) {
    const Clock::time_point start = Clock::now();
    const bool ok = runner.Run();
    const uint32_t ns = InNanoseconds(Clock::now() - start);
    if (!ok) return false;
    samples.push_back(ns);
  }
  return true;
}

// One thread of MeasureTogether.
struct Worker {
  bool ok = false;
  Clock::time_point last;  // when the last inference had ended
  Samples samples;
};

Together Summed(std::span<const Worker> workers, Clock::time_point start, const Budget& budget) {
  Together all;
  Clock::time_point end = start;
  for (const Worker& worker : workers) {
    all.samples.insert(all.samples.end(), worker.samples.begin(), worker.samples.end());
    all.per_s += static_cast<double>(worker.samples.size()) / Seconds(worker.last - start);
    end = std::max(end, worker.last);
  }
  // A thread that has finished early does not disturb the others.
  if (budget.iterations > 0) all.per_s = static_cast<double>(all.samples.size()) / Seconds(end - start);
  return all;
}

std::string FirstError(std::span<Runner* const> runners) {
  for (const Runner* runner : runners) {
    if (std::string error = runner->error(); !error.empty()) return error;
  }
  return "an inference failed";
}

}  // namespace

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Percentiles PercentilesUs(Samples samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const auto at = [&](double share) {
    const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(samples.size())));
    return samples[std::clamp<size_t>(rank, 1, samples.size()) - 1] / 1e3;
  };
  return {at(0.50), at(0.90), at(0.99)};
}

Result<std::vector<Samples>> MeasureLatency(std::span<Runner* const> runners, const Budget& budget) {
  constexpr double kTurn = 0.005;
  constexpr uint64_t kShortest = 2;
  double all = 0;  // seconds of one inference of each
  for (Runner* runner : runners) {
    const Result<double> estimate = Estimate(*runner);
    if (!estimate) return std::unexpected(estimate.error());
    all += *estimate;
  }
  const double one = all / static_cast<double>(runners.size());
  const uint64_t total = budget.iterations > 0 ? budget.iterations : static_cast<uint64_t>(budget.seconds / all) + 1;
  const uint64_t turn = std::max(kShortest, static_cast<uint64_t>(kTurn / one));

  std::vector<Samples> samples(runners.size());
  for (Samples& each : samples) each.reserve(total);
  std::vector<size_t> order(runners.size());
  std::iota(order.begin(), order.end(), 0);
  for (uint64_t done = 0; done < total; done += turn) {
    for (const size_t i : order) {
      if (!Turn(*runners[i], std::min(turn, total - done), samples[i])) return std::unexpected(runners[i]->error());
    }
    std::ranges::next_permutation(order);  // changes the order, so that none always follows the same one
  }
  return samples;
}

Result<Together> MeasureTogether(std::span<Runner* const> runners, const Budget& budget, std::span<const int> cpus,
                                 const std::function<void()>& begin) {
  // All threads start at the same time: one that gets a processor late has made fewer inferences in that time, not
  // worked for a shorter time.
  Clock::time_point start;
  const auto start_all = [&]() noexcept {
    if (begin) begin();
    start = Clock::now();
  };
  std::barrier ready(static_cast<ptrdiff_t>(runners.size()), start_all);
  std::vector<Worker> workers(runners.size());
  auto loop = [&](size_t i) {
    Worker& worker = workers[i];
    worker.ok = cpus.empty() || PinTo(cpus.subspan(i % cpus.size(), 1)).has_value();
    worker.ok = worker.ok && runners[i]->Run();
    ready.arrive_and_wait();
    worker.last = Clock::now();
    do {
      worker.ok = worker.ok && runners[i]->Run();
      const Clock::time_point now = Clock::now();
      worker.samples.push_back(InNanoseconds(now - worker.last));
      worker.last = now;
    } while (worker.ok && (budget.iterations > 0 ? worker.samples.size() < budget.iterations
                                                 : Seconds(worker.last - start) < budget.seconds));
  };
  std::vector<std::thread> threads;
  threads.reserve(runners.size());
  for (size_t i = 0; i < runners.size(); ++i) threads.emplace_back(loop, i);
  for (std::thread& thread : threads) thread.join();
  if (!std::ranges::all_of(workers, &Worker::ok)) return std::unexpected(FirstError(runners));
  return Summed(workers, start, budget);
}

Result<Rates> MeasureRates(std::span<Runner* const> a, std::span<Runner* const> b, const Budget& budget,
                           std::span<const int> cpus) {
  const int pairs = budget.iterations > 0 ? 3 : 11;
  const Budget turn{budget.seconds / (2 * pairs), budget.iterations};
  Rates rates;
  std::vector<double> rates_a, rates_b, ratios;
  for (int i = 0; i < pairs; ++i) {
    const auto of_a = MeasureTogether(a, turn, cpus);
    if (!of_a) return std::unexpected(of_a.error());
    const auto of_b = MeasureTogether(b, turn, cpus);
    if (!of_b) return std::unexpected(of_b.error());
    rates_a.push_back(of_a->per_s);
    rates_b.push_back(of_b->per_s);
    ratios.push_back(of_b->per_s / of_a->per_s);
    rates.samples_a.insert(rates.samples_a.end(), of_a->samples.begin(), of_a->samples.end());
    rates.samples_b.insert(rates.samples_b.end(), of_b->samples.begin(), of_b->samples.end());
  }
  rates.a = Median(rates_a);
  rates.b = Median(rates_b);
  rates.ratio = Median(ratios);
  rates.spread = Spread(rates_a);
  return rates;
}

Result<void> PinTo(std::span<const int> cpus) {
  if (cpus.empty()) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return {};
  return std::unexpected(fmt::format("cannot pin to CPU {}: {}", cpus[0], std::strerror(errno)));
}

}  // namespace wasinn::bench
