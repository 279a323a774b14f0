#include "picture.h"

#include <algorithm>
#include <cmath>
#include <memory>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_THREAD_LOCALS
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

namespace {

constexpr int kColours = 3, kQuality = 75;

struct FreeImage {
  void operator()(stbi_uc* image) const { stbi_image_free(image); }
};

Point Between(Point from, Point to, float part) {
  return {from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part};
}

// A colour at any place, from the four pixels around it. Places beyond an edge have the colour of the edge.
float Sample(const Picture& picture, Point at, int colour) {
  const float x = std::clamp(at.x - 0.5f, 0.0f, static_cast<float>(picture.width - 1));
  const float y = std::clamp(at.y - 0.5f, 0.0f, static_cast<float>(picture.height - 1));
  const int left = static_cast<int>(x), top = static_cast<int>(y);
  const int right = std::min(left + 1, picture.width - 1), bottom = std::min(top + 1, picture.height - 1);
  const auto pixel = [&](int column, int row) {
    return static_cast<float>(picture.pixels[static_cast<size_t>(row * picture.width + column) * kColours + colour]);
  };
  const float along = x - static_cast<float>(left), down = y - static_cast<float>(top);
  const float upper = pixel(left, top) * (1 - along) + pixel(right, top) * along;
  const float lower = pixel(left, bottom) * (1 - along) + pixel(right, bottom) * along;
  return upper * (1 - down) + lower * down;
}

}  // namespace

bool ReadPicture(const char* path, Picture* picture, std::string* error) {
  int channels = 0;
  const std::unique_ptr<stbi_uc, FreeImage> image(
      stbi_load(path, &picture->width, &picture->height, &channels, kColours));
  if (image == nullptr) {
    *error = std::string("not a PNG or JPEG file that can be read: ") + stbi_failure_reason();
    return false;
  }
  picture->pixels.assign(image.get(), image.get() + static_cast<size_t>(picture->width) * picture->height * kColours);
  return true;
}

bool WritePicture(const char* path, const Picture& picture) {
  return stbi_write_jpg(path, picture.width, picture.height, kColours, picture.pixels.data(), kQuality) != 0;
}

std::vector<float> Planes(const Picture& picture, const Quad& quad, int width, int height, int room) {
  std::vector<float> planes(static_cast<size_t>(kColours) * height * room);
  for (int plane = 0; plane < kColours; ++plane) {
    for (int row = 0; row < height; ++row) {
      const float down = (static_cast<float>(row) + 0.5f) / static_cast<float>(height);
      const Point begin = Between(quad[0], quad[3], down), end = Between(quad[1], quad[2], down);
      float* to = &planes[(static_cast<size_t>(plane) * height + row) * room];
      for (int column = 0; column < width; ++column) {
        const float along = (static_cast<float>(column) + 0.5f) / static_cast<float>(width);
        to[column] = Sample(picture, Between(begin, end, along), kColours - 1 - plane) / 127.5f - 1;
      }
    }
  }
  return planes;
}

void Draw(const Quad& quad, Picture* picture) {
  static constexpr uint8_t kRed[] = {220, 30, 30};
  for (size_t i = 0; i < quad.size(); ++i) {
    const Point from = quad[i], to = quad[(i + 1) % quad.size()];
    const int steps = static_cast<int>(2 * std::hypot(to.x - from.x, to.y - from.y)) + 1;
    for (int step = 0; step < steps; ++step) {
      const Point at = Between(from, to, static_cast<float>(step) / static_cast<float>(steps));
      const int x = static_cast<int>(at.x), y = static_cast<int>(at.y);
      if (x < 0 || y < 0 || x >= picture->width || y >= picture->height) continue;
      std::copy_n(kRed, kColours, &picture->pixels[static_cast<size_t>(y * picture->width + x) * kColours]);
    }
  }
}
