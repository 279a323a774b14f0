#include "bench/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/table.h"

namespace wasinn::bench {
namespace {

using Json = nlohmann::ordered_json;

// Counts are whole numbers unless something is odd.
Json Count(double value) {
  if (value == std::floor(value)) return static_cast<int64_t>(value);
  return value;
}

Json Count(const std::optional<double>& value) { return value ? Count(*value) : Json(); }

std::optional<double> AllocationsByWasinn(const Report& report) {
  if (!report.guest_allocations || !report.native_allocations) return std::nullopt;
  return *report.guest_allocations - *report.native_allocations;
}

Json LoopToJson(const Report::Loop& loop) { return {{"native_copy", loop.native_us}, {"guest", loop.guest_us}}; }

std::string Plural(double count, const char* what) {
  return fmt::format("{:.6g} {}{}", count, what, count == 1 ? "" : "s");
}

std::string Against(std::optional<double> allocations) {
  if (!allocations) return "n/a allocations";
  return Plural(std::abs(*allocations), "allocation") +
         (*allocations < 0 ? " fewer than natively" : " more than natively");
}

std::string Heading(const Report& report) {
  std::string text = fmt::format("{} on {}, {} each", report.model, report.framework, Plural(report.threads, "thread"));
  if (!report.cpus.empty()) text += fmt::format(", pinned to CPU {}", fmt::join(report.cpus, ", "));
  return text + fmt::format(": {} bytes in, {} bytes out\n\n", report.input_bytes, report.output_bytes);
}

}  // namespace

std::string ToText(const Report& report) {
  cli::Table latency({fmt::format("one inference, of {}", report.samples), "p50 us", "p99 us"});
  constexpr const char* kNames[kSides] = {"native, bound buffers", "native, one memcpy each way", "guest"};
  for (int side = 0; side < kSides; ++side) {
    latency.Add({kNames[side], fmt::format("{:.2f}", report.p50_us[side]), fmt::format("{:.2f}", report.p99_us[side])});
  }
  latency.Add({"guest - native with memcpy", fmt::format("{:+.2f}", report.p50_us[kGuest] - report.p50_us[kNativeCopy]),
               fmt::format("{:+.2f}", report.p99_us[kGuest] - report.p99_us[kNativeCopy])});
  cli::Table rates({"inferences/s, at once", "", ""});
  const auto guests = static_cast<double>(report.guests);
  rates.Add({Plural(guests, "native thread") + ", one session", fmt::format("{:.1f}", report.rates.a), ""});
  rates.Add({Plural(guests, "guest") + ", one graph", fmt::format("{:.1f}", report.rates.b),
             fmt::format("{:.1f} %", report.rates.ratio * 100)});
  return Heading(report) + latency.ToString() + "\n" + rates.ToString() +
         fmt::format("\nby wasinn, per inference: {} copied in {}, {}\n", Plural(report.bytes_copied, "byte"),
                     report.copies == 1 ? "1 copy" : fmt::format("{:.6g} copies", report.copies),
                     Against(AllocationsByWasinn(report))) +
         fmt::format("calling an empty function of the guest: {:.2f} us, contained in the guest's times\n",
                     report.empty_call_us) +
         fmt::format(
             "{} inferences in a loop of the guest's own: {:.2f} us each, natively with memcpy {:.2f} ({:+.2f})\n",
             kLoop, report.loop_p50.guest_us, report.loop_p50.native_us,
             report.loop_p50.guest_us - report.loop_p50.native_us) +
         (report.outputs_equal
              ? ""
              : "the guest's outputs are not the native ones: the model is random, or something is wrong\n");
}

std::string ToJson(const Report& report) {
  const Json json = {
      {"model", report.model},
      {"framework", report.framework},
      {"engine", report.engine},
      {"threads", report.threads},
      {"guests", report.guests},
      {"cpus", report.cpus},
      {"seconds", report.budget.iterations > 0 ? Json() : Json(report.budget.seconds)},
      {"iterations", report.samples},
      {"input_bytes", report.input_bytes},
      {"output_bytes", report.output_bytes},
      {"p50_us",
       {{"native", report.p50_us[kNative]},
        {"native_copy", report.p50_us[kNativeCopy]},
        {"guest", report.p50_us[kGuest]}}},
      {"p99_us",
       {{"native", report.p99_us[kNative]},
        {"native_copy", report.p99_us[kNativeCopy]},
        {"guest", report.p99_us[kGuest]}}},
      {"difference_us", report.p50_us[kGuest] - report.p50_us[kNativeCopy]},
      {"empty_call_us", report.empty_call_us},
      {"loop_us", LoopToJson(report.loop_p50)},
      {"loop_p99_us", LoopToJson(report.loop_p99)},
      {"per_s", {{"native", report.rates.a}, {"guest", report.rates.b}}},
      {"per_s_ratio", report.rates.ratio},
      {"bytes_copied", Count(report.bytes_copied)},
      {"copies", Count(report.copies)},
      {"allocations", Count(AllocationsByWasinn(report))},
      {"allocations_of", {{"native", Count(report.native_allocations)}, {"guest", Count(report.guest_allocations)}}},
      {"outputs_equal", report.outputs_equal}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wasinn::bench
