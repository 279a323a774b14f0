// A picture in memory: read from a file, turned into a model's input, and written to a file with lines drawn on it.
#ifndef WASINN_EXAMPLES_OCR_PICTURE_H_
#define WASINN_EXAMPLES_OCR_PICTURE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

struct Point {
  float x, y;
};

// Four corners, clockwise from the upper left of the content.
using Quad = std::array<Point, 4>;

// Red, green and blue of each pixel, row by row.
struct Picture {
  int width = 0, height = 0;
  std::vector<uint8_t> pixels;
};

// A PNG or JPEG file. On failure returns false and says why in *error.
bool ReadPicture(const char* path, Picture* picture, std::string* error);
// Into a JPEG file.
bool WritePicture(const char* path, const Picture& picture);

// The content of `quad`, stretched to `width` x `height`, as the input of these models: planes of blue, green and red,
// from -1 to 1. To its right they have zeros, up to `room` columns.
std::vector<float> Planes(const Picture& picture, const Quad& quad, int width, int height, int room);

// Draws the outline of `quad`, in red.
void Draw(const Quad& quad, Picture* picture);

#endif  // WASINN_EXAMPLES_OCR_PICTURE_H_
