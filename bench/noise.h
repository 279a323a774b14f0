// Whether the machine is quiet enough to believe what is measured on it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/report.h"

namespace wasinn::bench {

// Processes that wanted to run in the last minute, on average; 0 where nobody knows.
double LoadAverage();

// What makes the reports doubtful, in words; none: nothing does.
std::vector<std::string> NoiseWarnings(std::span<const Report> reports);

}  // namespace wasinn::bench
