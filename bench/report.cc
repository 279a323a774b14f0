#include "bench/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "cli/table.h"

namespace wasinn::bench {
namespace {

std::string Plural(double count, const char* what) {
  return fmt::format("{:.6g} {}{}", count, what, count == 1 ? "" : "s");
}

std::string Against(std::optional<double> allocations) {
  if (!allocations) return "n/a allocations";
  return Plural(std::abs(*allocations), "allocation") +
         (*allocations < 0 ? " fewer than natively" : " more than natively");
}

std::string Heading(const Report& report) {
  std::string text = fmt::format("{} on {}, {} each, guests on {} by {}", report.model, report.framework,
                                 Plural(report.threads, "thread"), report.engine, report.abi);
  if (!report.cpus.empty()) text += fmt::format(", pinned to CPU {}", fmt::join(report.cpus, ", "));
  return text + fmt::format(": {} bytes in, {} bytes out\n\n", report.input_bytes, report.output_bytes);
}

std::vector<std::string> Row(std::vector<std::string> cells, const Percentiles& us) {
  for (const double time : {us.p50, us.p90, us.p99}) cells.push_back(fmt::format("{:.2f}", time));
  return cells;
}

std::string LatencyTable(const Report& report) {
  cli::Table table({fmt::format("one inference, of {}", report.samples), "p50 us", "p90 us", "p99 us"});
  constexpr const char* kNames[kSides] = {"native, bound buffers", "native, one memcpy each way", "guest"};
  for (int side = 0; side < kSides; ++side) table.Add(Row({kNames[side]}, report.latency_us[side]));
  const Percentiles &guest = report.latency_us[kGuest], &native = report.latency_us[kNativeCopy];
  table.Add({"guest - native with memcpy", fmt::format("{:+.2f}", guest.p50 - native.p50),
             fmt::format("{:+.2f}", guest.p90 - native.p90), fmt::format("{:+.2f}", guest.p99 - native.p99)});
  return table.ToString();
}

std::string LevelTable(const Report& report) {
  cli::Table table({"inferences/s, at once", "native", "guest", "of native", "guest p50 us", "p90 us", "p99 us"});
  for (const Level& level : report.levels) {
    table.Add(Row(
        {Plural(static_cast<double>(level.guests), "guest") + ", one graph", fmt::format("{:.1f}", level.native_per_s),
         fmt::format("{:.1f}", level.guest_per_s), fmt::format("{:.1f} %", level.ratio * 100)},
        level.guest_us));
  }
  return table.ToString();
}

std::string StepTable(const Report& report) {
  cli::Table table({"steps, mean us", "queue", "compute_input", "compute_infer", "compute_output", "rest"});
  for (const Level& level : report.levels) {
    if (!level.steps) return "";
    std::vector<std::string> row = {Plural(static_cast<double>(level.guests), "guest")};
    const Steps& steps = *level.steps;
    for (const double us : {steps.queue, steps.compute_input, steps.compute_infer, steps.compute_output, steps.rest}) {
      row.push_back(fmt::format("{:.2f}", us));
    }
    table.Add(std::move(row));
  }
  return "\n" + table.ToString();
}

}  // namespace

std::optional<double> AllocationsByWasinn(const Report& report) {
  if (!report.guest_allocations || !report.native_allocations) return std::nullopt;
  return *report.guest_allocations - *report.native_allocations;
}

std::string ToComparison(std::span<const Report> reports) {
  cli::Table table({"side by side", "engine", "abi", "native p50 us", "guest p50 us", "p90 us", "p99 us", "guest/s"});
  for (const Report& report : reports) {
    std::vector<std::string> row = {report.model, report.engine, report.abi,
                                    fmt::format("{:.2f}", report.latency_us[kNativeCopy].p50)};
    row = Row(std::move(row), report.latency_us[kGuest]);
    const Level& last = report.levels.back();
    row.push_back(fmt::format("{:.1f} ({})", last.guest_per_s, Plural(static_cast<double>(last.guests), "guest")));
    table.Add(std::move(row));
  }
  return table.ToString();
}

std::string ToText(const Report& report) {
  return Heading(report) + LatencyTable(report) + "\n" + LevelTable(report) + StepTable(report) +
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

}  // namespace wasinn::bench
