// The output of `wasinn bench --csv`, which is as in RFC 4180 except for the ends of lines, which are those of text
// files.
#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

#include "bench/report.h"

namespace wasinn::bench {
namespace {

constexpr char kHeader[] =
    "model,framework,engine,abi,threads,guests,native_per_s,guest_per_s,per_s_ratio,spread,"
    "native_p50_us,native_p90_us,native_p99_us,guest_p50_us,guest_p90_us,guest_p99_us,"
    "queue_us,compute_input_us,compute_infer_us,compute_output_us,rest_us\n";

std::string Quoted(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string Numbers(std::initializer_list<double> numbers) {
  std::string cells;
  for (const double number : numbers) cells += fmt::format(",{:.6g}", number);
  return cells;
}

}  // namespace

std::string ToCsv(std::span<const Report> reports) {
  std::string csv = kHeader;
  for (const Report& report : reports) {
    for (const Level& level : report.levels) {
      csv += fmt::format("{},{},{},{},{},{}", Quoted(report.model), Quoted(report.framework), report.engine, report.abi,
                         report.threads, level.guests);
      const Percentiles &native = level.native_us, &guest = level.guest_us;
      csv += Numbers({level.native_per_s, level.guest_per_s, level.ratio, level.spread, native.p50, native.p90,
                      native.p99, guest.p50, guest.p90, guest.p99});
      if (const auto& steps = level.steps) {
        csv += Numbers({steps->queue, steps->compute_input, steps->compute_infer, steps->compute_output, steps->rest});
      } else {
        csv += ",,,,,";
      }
      csv += '\n';
    }
  }
  return csv;
}

}  // namespace wasinn::bench
