#include "image.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_NO_THREAD_LOCALS
#include <stb/stb_image.h>

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

struct FreeImage {
  void operator()(stbi_uc* image) const { stbi_image_free(image); }
};

// The mean of the image over one cell of an 8x8 grid that is laid over it. Pixels that the cell's border cuts count
// by the part inside.
float AreaMean(const stbi_uc* image, int width, int height, int column, int row) {
  const double left = static_cast<double>(column) * width / kSide;
  const double right = static_cast<double>(column + 1) * width / kSide;
  const double top = static_cast<double>(row) * height / kSide;
  const double bottom = static_cast<double>(row + 1) * height / kSide;
  double sum = 0;
  for (int y = static_cast<int>(top); y < std::ceil(bottom); ++y) {
    const double high = std::min(bottom, y + 1.0) - std::max<double>(top, y);
    for (int x = static_cast<int>(left); x < std::ceil(right); ++x) {
      const double wide = std::min(right, x + 1.0) - std::max<double>(left, x);
      sum += image[static_cast<size_t>(y) * width + x] * wide * high;
    }
  }
  return static_cast<float>(sum / ((right - left) * (bottom - top)));
}

}  // namespace

bool ReadFile(const char* path, std::vector<uint8_t>* bytes, std::string* error) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path, "rb"));
  bytes->clear();
  uint8_t block[16384];
  size_t got = file != nullptr ? sizeof(block) : 0;
  while (got == sizeof(block)) {
    got = std::fread(block, 1, sizeof(block), file.get());
    bytes->insert(bytes->end(), block, block + got);
  }
  if (file != nullptr && std::ferror(file.get()) == 0) return true;
  *error = std::strerror(errno);
  return false;
}

bool DecodeImage(const std::vector<uint8_t>& bytes, Pixels* pixels, std::string* error) {
  int width = 0, height = 0, channels = 0;
  std::unique_ptr<stbi_uc, FreeImage> image(
      stbi_load_from_memory(bytes.data(), static_cast<int>(bytes.size()), &width, &height, &channels, 1));
  if (image == nullptr) {
    *error = std::string("not a PNG or JPEG image that can be decoded: ") + stbi_failure_reason();
    return false;
  }
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      (*pixels)[row * kSide + column] = AreaMean(image.get(), width, height, column, row) / 255.0f;
    }
  }
  return true;
}

std::string RenderRow(const Pixels& pixels, int row, bool gray) {
  constexpr float kInk = 0.55f;
  std::string line;
  for (int column = 0; column < kSide; ++column) {
    const float upper = pixels[(2 * row) * kSide + column];
    const float lower = pixels[(2 * row + 1) * kSide + column];
    if (gray) {
      // Colors 232 to 255 are the grays of a 256-color terminal, from black to white.
      char cell[48];
      std::snprintf(cell, sizeof(cell), "\x1b[38;5;%ld;48;5;%ldm▀", 232 + std::lround(upper * 23.0f),
                    232 + std::lround(lower * 23.0f));
      line += cell;
    } else if (upper >= kInk) {
      line += lower >= kInk ? "█" : "▀";
    } else {
      line += lower >= kInk ? "▄" : " ";
    }
  }
  return gray ? line + "\x1b[0m" : line;
}
