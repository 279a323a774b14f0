#include "bench/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace wasinn::bench {
namespace {

constexpr double kQuietLoad = 0.5;     // of a machine that does nothing else
constexpr double kQuietSpread = 0.05;  // the spread of the native side's turns

std::string LoadWarning(const Report& report) {
  const auto processors = static_cast<double>(std::max(1u, std::thread::hardware_concurrency()));
  const double used = static_cast<double>(report.levels.back().guests) * report.threads;
  const double spare = std::max(0.0, processors - used);
  if (report.load_average <= spare + kQuietLoad) return "";
  return fmt::format(
      "the machine is busy: a load average of {:.1f} before the measurement, {:g} of {:g} processors free",
      report.load_average, spare, processors);
}

std::string SpreadWarning(std::span<const Report> reports) {
  const Level* worst = nullptr;
  for (const Report& report : reports) {
    for (const Level& level : report.levels) {
      if (worst == nullptr || level.spread > worst->spread) worst = &level;
    }
  }
  if (worst == nullptr || worst->spread <= kQuietSpread) return "";
  return fmt::format(
      "the machine is noisy: half of the native side's turns on {} thread{} were more than {:.0f} % off their median",
      worst->guests, worst->guests == 1 ? "" : "s", worst->spread * 100);
}

}  // namespace

double LoadAverage() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

std::vector<std::string> NoiseWarnings(std::span<const Report> reports) {
  std::vector<std::string> warnings;
  for (std::string& warning : std::vector{LoadWarning(reports.front()), SpreadWarning(reports)}) {
    if (!warning.empty()) warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace wasinn::bench
