#include "bench/measure.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <latch>
#include <numeric>
#include <thread>

namespace wasinn::bench {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Seconds of one inference, warm.
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
    const int64_t ns = std::chrono::nanoseconds(Clock::now() - start).count();
    if (!ok) return false;
    samples.push_back(static_cast<uint32_t>(std::min<int64_t>(ns, UINT32_MAX)));
  }
  return true;
}

// One turn of one side: every runner on a thread of its own. Inferences per second, 0 for a failure.
double Together(std::span<Runner* const> runners, const Budget& turn, std::span<const int> cpus) {
  std::latch ready(static_cast<ptrdiff_t>(runners.size()));
  std::vector<double> rates(runners.size());
  auto loop = [&](size_t i) {
    bool ok = cpus.empty() || PinTo(cpus.subspan(i % cpus.size(), 1)).has_value();
    ok = ok && runners[i]->Run();
    ready.arrive_and_wait();
    const Clock::time_point start = Clock::now();
    uint64_t runs = 0;
    double seconds = 0;
    do {
      ok = ok && runners[i]->Run();
      seconds = Seconds(Clock::now() - start);
      ++runs;
    } while (ok && (turn.iterations > 0 ? runs < turn.iterations : seconds < turn.seconds));
    rates[i] = ok ? static_cast<double>(runs) / seconds : NAN;
  };
  std::vector<std::thread> threads;
  threads.reserve(runners.size());
  for (size_t i = 0; i < runners.size(); ++i) threads.emplace_back(loop, i);
  for (std::thread& thread : threads) thread.join();
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  return std::isnan(sum) ? 0 : sum;
}

std::string FirstError(std::span<Runner* const> runners) {
  for (const Runner* runner : runners) {
    if (std::string error = runner->error(); !error.empty()) return error;
  }
  return "an inference failed";
}

}  // namespace

double PercentileUs(Samples& samples, double share) {
  if (samples.empty()) return 0;
  std::ranges::sort(samples);
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(samples.size())));
  return samples[std::clamp<size_t>(rank, 1, samples.size()) - 1] / 1e3;
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
    std::ranges::next_permutation(order);  // nobody always follows the same one
  }
  return samples;
}

Result<Rates> MeasureRates(std::span<Runner* const> a, std::span<Runner* const> b, const Budget& budget,
                           std::span<const int> cpus) {
  const int pairs = budget.iterations > 0 ? 3 : 11;
  const Budget turn{budget.seconds / (2 * pairs), budget.iterations};
  std::vector<double> rates_a, rates_b, ratios;
  for (int i = 0; i < pairs; ++i) {
    rates_a.push_back(Together(a, turn, cpus));
    rates_b.push_back(Together(b, turn, cpus));
    if (rates_a.back() == 0) return std::unexpected(FirstError(a));
    if (rates_b.back() == 0) return std::unexpected(FirstError(b));
    ratios.push_back(rates_b.back() / rates_a.back());
  }
  return Rates{Median(rates_a), Median(rates_b), Median(ratios)};
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
