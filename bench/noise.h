// Whether the machine is quiet enough for its measurements to count.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/report.h"

namespace wasinn::bench {

// The average number of processes that wanted to run in the last minute; 0 if unknown.
double LoadAverage();

// The reasons to doubt the reports, in words; empty if there are none.
std::vector<std::string> NoiseWarnings(std::span<const Report> reports);

}  // namespace wasinn::bench
