// A picture of reports.
#pragma once

#include <span>
#include <string>

#include "bench/report.h"

namespace wasinn::bench {

// SVG: inferences per second, and the guests' p99, over the number of guests; a colour for each report. Own code, for
// Debian has no library for it that is light, and the bench is installed without Python.
std::string ToSvg(std::span<const Report> reports);

}  // namespace wasinn::bench
