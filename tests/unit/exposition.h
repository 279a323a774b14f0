// Reads Prometheus' text format 0.0.4, strictly: what a scraper would refuse, or might take for something else, fails.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace wasinn::testing {

// A sample's value by its name and labels, as `name{label="value"}`, as they stand in the text.
std::map<std::string, double> ReadMetrics(std::string_view text);

}  // namespace wasinn::testing
