// Image files in, the model's pixels out, and a small picture of them for the terminal.
#ifndef WASINN_EXAMPLES_CLASSIFY_IMAGE_H_
#define WASINN_EXAMPLES_CLASSIFY_IMAGE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

constexpr int kSide = 8;
// One gray image as the model's input: row by row, 0 is black and 1 is white.
using Pixels = std::array<float, kSide * kSide>;

// Reads a whole file. On failure returns false and says why in *error.
bool ReadFile(const char* path, std::vector<uint8_t>* bytes, std::string* error);

// Decodes the bytes of a PNG or JPEG file into *pixels: to gray, and to 8x8 by averaging areas. A gray image that is
// 8x8 already comes through bit for bit (byte / 255). On failure returns false and says why in *error.
bool DecodeImage(const std::vector<uint8_t>& bytes, Pixels* pixels, std::string* error);

// Row `row` (0..3) of a picture that is 8 columns wide; each character holds two pixels, one above the other. With
// `gray` in 24 gray tones (terminal escapes), otherwise as black and white characters.
std::string RenderRow(const Pixels& pixels, int row, bool gray);

#endif  // WASINN_EXAMPLES_CLASSIFY_IMAGE_H_
