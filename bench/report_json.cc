// The output of `wasinn bench --json`. bench/README.md lists its keys.
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/report.h"

namespace wasinn::bench {
namespace {

using Json = nlohmann::ordered_json;

// Counts are whole numbers, except if something is odd.
Json Count(double value) {
  if (value == std::floor(value)) return static_cast<int64_t>(value);
  return value;
}

Json Count(const std::optional<double>& value) { return value ? Count(*value) : Json(); }

Json OfLoop(const Report::Loop& loop) { return {{"native_copy", loop.native_us}, {"guest", loop.guest_us}}; }

Json OfSides(const Report& report, double Percentiles::* share) {
  return {{"native", report.latency_us[kNative].*share},
          {"native_copy", report.latency_us[kNativeCopy].*share},
          {"guest", report.latency_us[kGuest].*share}};
}

Json OfSteps(const std::optional<Steps>& steps) {
  if (!steps) return {};
  return {{"queue", steps->queue},
          {"compute_input", steps->compute_input},
          {"compute_infer", steps->compute_infer},
          {"compute_output", steps->compute_output},
          {"rest", steps->rest}};
}

Json OfLevel(const Level& level) {
  const auto times = [&](double Percentiles::* share) {
    return Json{{"native", level.native_us.*share}, {"guest", level.guest_us.*share}};
  };
  return {{"guests", level.guests},
          {"per_s", {{"native", level.native_per_s}, {"guest", level.guest_per_s}}},
          {"per_s_ratio", level.ratio},
          {"spread", level.spread},
          {"p50_us", times(&Percentiles::p50)},
          {"p90_us", times(&Percentiles::p90)},
          {"p99_us", times(&Percentiles::p99)},
          {"steps_us", OfSteps(level.steps)}};
}

Json OfReport(const Report& report) {
  const Level& last = report.levels.back();
  Json levels = Json::array();
  for (const Level& level : report.levels) levels.push_back(OfLevel(level));
  return {
      {"model", report.model},
      {"framework", report.framework},
      {"engine", report.engine},
      {"abi", report.abi},
      {"threads", report.threads},
      {"guests", last.guests},
      {"cpus", report.cpus},
      {"seconds", report.budget.iterations > 0 ? Json() : Json(report.budget.seconds)},
      {"iterations", report.samples},
      {"load_average", report.load_average},
      {"input_bytes", report.input_bytes},
      {"output_bytes", report.output_bytes},
      {"p50_us", OfSides(report, &Percentiles::p50)},
      {"p90_us", OfSides(report, &Percentiles::p90)},
      {"p99_us", OfSides(report, &Percentiles::p99)},
      {"difference_us", report.latency_us[kGuest].p50 - report.latency_us[kNativeCopy].p50},
      {"empty_call_us", report.empty_call_us},
      {"loop_us", OfLoop(report.loop_p50)},
      {"loop_p90_us", OfLoop(report.loop_p90)},
      {"loop_p99_us", OfLoop(report.loop_p99)},
      {"per_s", {{"native", last.native_per_s}, {"guest", last.guest_per_s}}},
      {"per_s_ratio", last.ratio},
      {"concurrency", levels},
      {"bytes_copied", Count(report.bytes_copied)},
      {"copies", Count(report.copies)},
      {"allocations", Count(AllocationsByWasinn(report))},
      {"allocations_of", {{"native", Count(report.native_allocations)}, {"guest", Count(report.guest_allocations)}}},
      {"outputs_equal", report.outputs_equal}};
}

}  // namespace

std::string ToJson(std::span<const Report> reports) {
  Json json = Json::array();
  for (const Report& report : reports) json.push_back(OfReport(report));
  if (reports.size() == 1) json = Json(json[0]);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wasinn::bench
