// A picture of reports.
#pragma once

#include <span>
#include <string>

#include "bench/report.h"

namespace wasinn::bench {

// SVG: inferences per second and the guests' p99 over the number of guests, with a colour for each report. It is own
// code because Debian has no small library for it, and the bench is installed without Python.
std::string ToSvg(std::span<const Report> reports);

}  // namespace wasinn::bench
