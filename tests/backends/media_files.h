// Small images and sounds as files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wasinn::test {

struct Pixels {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

// A picture that no other seed has.
Pixels Picture(uint32_t width, uint32_t height, uint32_t seed);
std::string Png(const Pixels& pixels);
std::string Jpeg(const Pixels& pixels);
std::string Bmp(const Pixels& pixels);
// A PNG file whose header says so, of another's pixels.
std::string PngThatSays(uint32_t width, uint32_t height);
// By stb_image, as llama.cpp's programs decode it.
Pixels Decoded(const std::string& file);

// A tone that rises.
std::vector<float> Tone(uint32_t rate, double seconds);
// Samples of one channel, as floats.
std::string Wav(uint32_t rate, const std::vector<float>& samples);

std::string Base64(const std::string& bytes);
inline std::string DataUrl(const std::string& type, const std::string& bytes) {
  return "data:" + type + ";base64," + Base64(bytes);
}

}  // namespace wasinn::test
