// The steps that rapidocr makes with OpenCV and two more libraries (its DBPostProcess, except for a dilation by one
// pixel): pixels over a threshold that touch are one piece of text. Its box is the smallest rectangle around them, in
// any direction. The box is enlarged, because the model was trained on the middle of letters.
#include "boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

constexpr float kText = 0.3f;    // from here on a pixel is text
constexpr float kSure = 0.5f;    // from here on a box is text, by its mean
constexpr float kSmallest = 3;   // side of a box, in pixels
constexpr float kUnclip = 1.6f;  // by how much of area / circumference a box is enlarged
constexpr float kSameLine = 10;  // pixels between the tops of boxes that are read from left to right

struct Piece {
  std::vector<Point> points;
  float mean = 0;  // of the map
};

// The pixels that are connected to `start`, also diagonally. Removes them from `text`.
Piece Take(std::span<const float> map, int width, int height, int start, std::vector<bool>* text) {
  Piece piece;
  std::vector<int> open = {start};
  (*text)[start] = false;
  while (!open.empty()) {
    const int at = open.back(), x = at % width, y = at / width;
    open.pop_back();
    piece.points.push_back({static_cast<float>(x), static_cast<float>(y)});
    piece.mean += map[at];
    for (int row = std::max(y - 1, 0); row <= std::min(y + 1, height - 1); ++row) {
      for (int column = std::max(x - 1, 0); column <= std::min(x + 1, width - 1); ++column) {
        if (!(*text)[row * width + column]) continue;
        (*text)[row * width + column] = false;
        open.push_back(row * width + column);
      }
    }
  }
  piece.mean /= static_cast<float>(piece.points.size());
  return piece;
}

// The corners of the convex hull of the points.
std::vector<Point> Hull(std::vector<Point> points) {
  std::ranges::sort(points, [](Point a, Point b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  std::vector<Point> hull;
  const auto left_turn = [&](Point next) {
    const Point a = hull[hull.size() - 2], b = hull.back();
    return (b.x - a.x) * (next.y - a.y) - (b.y - a.y) * (next.x - a.x) > 0;
  };
  for (int side = 0; side < 2; ++side) {  // the lower side, and back along the upper one
    const size_t begin = hull.size();
    for (const Point point : points) {
      while (hull.size() >= begin + 2 && !left_turn(point)) hull.pop_back();
      hull.push_back(point);
    }
    hull.pop_back();
    std::ranges::reverse(points);
  }
  return hull;
}

// A rectangle: a direction, and its extent along and across it.
struct Rectangle {
  Point along = {1, 0};
  float left = 0, right = 0, top = 0, bottom = 0;

  float width() const { return right - left; }
  float height() const { return bottom - top; }
  Point At(float x, float y) const { return {x * along.x - y * along.y, x * along.y + y * along.x}; }
};

// The smallest rectangle: one of its sides is on a side of the hull.
Rectangle Around(const std::vector<Point>& hull) {
  Rectangle smallest;
  float area = std::numeric_limits<float>::max();
  for (size_t i = 0; i < hull.size(); ++i) {
    const Point from = hull[i], to = hull[(i + 1) % hull.size()];
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    if (length == 0) continue;
    constexpr float kFar = std::numeric_limits<float>::max();
    Rectangle now = {{(to.x - from.x) / length, (to.y - from.y) / length}, kFar, -kFar, kFar, -kFar};
    for (const Point point : hull) {
      const float x = point.x * now.along.x + point.y * now.along.y, y = point.y * now.along.x - point.x * now.along.y;
      now.left = std::min(now.left, x);
      now.right = std::max(now.right, x);
      now.top = std::min(now.top, y);
      now.bottom = std::max(now.bottom, y);
    }
    if (now.width() * now.height() < area) {
      area = now.width() * now.height();
      smallest = now;
    }
  }
  return smallest;
}

Rectangle Grown(Rectangle box) {
  const float by = box.width() * box.height() * kUnclip / (2 * (box.width() + box.height()));
  return {box.along, box.left - by, box.right + by, box.top - by, box.bottom + by};
}

// The upper one of the two corners on the left is the first.
Quad Corners(const Rectangle& box) {
  Quad quad = {box.At(box.left, box.top), box.At(box.right, box.top), box.At(box.right, box.bottom),
               box.At(box.left, box.bottom)};
  std::ranges::sort(quad, {}, &Point::x);
  if (quad[0].y > quad[1].y) std::swap(quad[0], quad[1]);
  if (quad[2].y > quad[3].y) std::swap(quad[2], quad[3]);
  return {quad[0], quad[2], quad[3], quad[1]};
}

void SortAsRead(std::vector<Quad>* boxes) {
  std::ranges::stable_sort(*boxes, {}, [](const Quad& box) { return box[0].y; });
  for (auto begin = boxes->begin(); begin != boxes->end();) {
    auto end = begin + 1;
    while (end != boxes->end() && (*end)[0].y - (*(end - 1))[0].y < kSameLine) ++end;
    std::stable_sort(begin, end, [](const Quad& a, const Quad& b) { return a[0].x < b[0].x; });
    begin = end;
  }
}

}  // namespace

std::vector<Quad> FindBoxes(std::span<const float> map, int width, int height) {
  std::vector<bool> text(map.size());
  std::transform(map.begin(), map.end(), text.begin(), [](float pixel) { return pixel > kText; });
  std::vector<Quad> boxes;
  for (int at = 0; at < width * height; ++at) {
    if (!text[at]) continue;
    const Piece piece = Take(map, width, height, at, &text);
    const Rectangle box = Around(Hull(piece.points));
    if (piece.mean < kSure || std::min(box.width(), box.height()) < kSmallest) continue;
    boxes.push_back(Corners(Grown(box)));
  }
  SortAsRead(&boxes);
  return boxes;
}
