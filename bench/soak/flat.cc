#include "bench/soak/flat.h"

#include <cmath>

namespace wasinn::soak {

Growth GrowthOf(const std::vector<Point>& points) {
  const auto n = static_cast<double>(points.size());
  if (points.size() < 3) return {};
  double x = 0, y = 0;
  for (const Point& point : points) {
    x += point.x / n;
    y += point.y / n;
  }
  double xx = 0, xy = 0, rest = 0;
  for (const Point& point : points) {
    xx += (point.x - x) * (point.x - x);
    xy += (point.x - x) * (point.y - y);
  }
  if (xx == 0) return {};
  const double slope = xy / xx;
  for (const Point& point : points) {
    const double off = point.y - y - slope * (point.x - x);
    rest += off * off;
  }
  const double span = points.back().x - points.front().x;
  return {.rise = slope * span, .error = std::sqrt(rest / (n - 2) / xx) * span};
}

bool IsFlat(const Growth& growth, double allowed) { return growth.rise - 3 * growth.error <= allowed; }

}  // namespace wasinn::soak
