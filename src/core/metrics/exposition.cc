#include "core/metrics/exposition.h"

#include <chrono>

#include "core/escape.h"

namespace wasinn::core {
namespace {

std::string Seconds(std::chrono::nanoseconds duration) {
  return fmt::format("{}", std::chrono::duration<double>(duration).count());
}

// A scraper refuses the whole text for one byte that is not UTF-8.
std::string LabelValue(std::string_view value) {
  std::string quoted;
  for (;;) {
    const size_t end = value.find('\n');
    for (const char c : Escape(value.substr(0, end))) {
      if (c == '\\' || c == '"') quoted += '\\';
      quoted += c;
    }
    if (end == value.npos) return quoted;
    quoted += "\\n";
    value.remove_prefix(end + 1);
  }
}

}  // namespace

void Exposition::Family(std::string_view name, Type type, std::string_view help) {
  static constexpr std::string_view kTypes[] = {"counter", "gauge", "histogram"};
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, kTypes[static_cast<size_t>(type)]);
}

void Exposition::Line(std::string_view suffix, const Labels& labels, std::string_view value) {
  text_ += name_;
  text_ += suffix;
  char before = '{';
  for (const auto& [name, label] : labels) {
    if (label.empty()) continue;  // the same as no label
    text_ += fmt::format("{}{}=\"{}\"", before, name, LabelValue(label));
    before = ',';
  }
  if (before == ',') text_ += '}';
  text_ += fmt::format(" {}\n", value);
}

void Exposition::Sample(const Labels& labels, const Histogram::Sum& histogram) {
  Labels bucket = labels;
  uint64_t count = 0;
  for (size_t i = 0; i < histogram.buckets.size(); ++i) {
    count += histogram.buckets[i];
    const std::string bound = i < Histogram::kBounds.size() ? Seconds(Histogram::kBounds[i]) : "+Inf";
    bucket.emplace_back("le", bound);
    Line("_bucket", bucket, fmt::to_string(count));
    bucket.pop_back();
  }
  Line("_sum", labels, Seconds(std::chrono::nanoseconds(histogram.nanoseconds)));
  Line("_count", labels, fmt::to_string(count));
}

}  // namespace wasinn::core
