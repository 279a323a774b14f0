// Whether a measure stays flat.
#pragma once

#include <string>
#include <vector>

namespace wasinn::soak {

struct Point {
  double x = 0, y = 0;
};

// How much the straight line through the points (least squares) rises from the first to the last one, and its standard
// error.
struct Growth {
  double rise = 0, error = 0;
};
Growth GrowthOf(const std::vector<Point>& points);

// Flat: the rise, less three times its standard error, is no more than `allowed`.
bool IsFlat(const Growth& growth, double allowed);

}  // namespace wasinn::soak
