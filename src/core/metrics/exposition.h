// Prometheus' text format, version 0.0.4: docs/metrics.md.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/metrics/histogram.h"

namespace wasinn::core {

// Writes families one after the other, each with all of its samples.
class Exposition {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  enum class Type : uint8_t { kCounter, kGauge, kHistogram };
  // `help` is one line without a backslash.
  void Family(std::string_view name, Type type, std::string_view help);
  // Adds a sample to the last family.
  void Sample(const Labels& labels, uint64_t value) { Line("", labels, fmt::to_string(value)); }
  void Sample(const Labels& labels, double value) { Line("", labels, fmt::to_string(value)); }
  void Sample(const Labels& labels, const Histogram::Sum& histogram);

  std::string Take() && { return std::move(text_); }

 private:
  void Line(std::string_view suffix, const Labels& labels, std::string_view value);

  std::string name_;
  std::string text_;
};

}  // namespace wasinn::core
