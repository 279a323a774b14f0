#include "backends/media_files.h"

#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>

#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

namespace wasinn::test {

namespace {

void Append(void* bytes, void* data, int size) {
  static_cast<std::string*>(bytes)->append(static_cast<const char*>(data), static_cast<size_t>(size));
}

std::string BigEndian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

uint32_t Crc(const std::string& bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

template <typename T>
void Add(std::string* bytes, T value) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

Pixels Picture(uint32_t width, uint32_t height, uint32_t seed) {
  Pixels pixels = {.width = width, .height = height, .rgb = std::vector<uint8_t>(size_t{3} * width * height)};
  for (size_t i = 0; i < pixels.rgb.size(); ++i) {
    const uint32_t x = i / 3 % width, y = i / 3 / width, part = i % 3;
    pixels.rgb[i] = static_cast<uint8_t>(x * (3 + seed) + y * (5 + part * seed) + 80 * part + seed * 37);
  }
  return pixels;
}

std::string Png(const Pixels& pixels) {
  std::string bytes;
  const auto width = static_cast<int>(pixels.width);
  if (stbi_write_png_to_func(Append, &bytes, width, static_cast<int>(pixels.height), 3, pixels.rgb.data(), 3 * width) ==
      0) {
    throw std::runtime_error("stb writes no PNG");
  }
  return bytes;
}

std::string Jpeg(const Pixels& pixels) {
  std::string bytes;
  constexpr int kQuality = 90;
  if (stbi_write_jpg_to_func(Append, &bytes, static_cast<int>(pixels.width), static_cast<int>(pixels.height), 3,
                             pixels.rgb.data(), kQuality) == 0) {
    throw std::runtime_error("stb writes no JPEG");
  }
  return bytes;
}

std::string Bmp(const Pixels& pixels) {
  std::string bytes;
  if (stbi_write_bmp_to_func(Append, &bytes, static_cast<int>(pixels.width), static_cast<int>(pixels.height), 3,
                             pixels.rgb.data()) == 0) {
    throw std::runtime_error("stb writes no BMP");
  }
  return bytes;
}

std::string PngThatSays(uint32_t width, uint32_t height) {
  std::string bytes = Png(Picture(8, 8, 1));
  constexpr size_t kHeader = 12, kSize = 17;  // from its name on
  std::string header = bytes.substr(kHeader, kSize);
  header.replace(4, 8, BigEndian(width) + BigEndian(height));
  return bytes.replace(kHeader, kSize + 4, header + BigEndian(Crc(header)));
}

Pixels Decoded(const std::string& file) {
  int width = 0, height = 0, parts = 0;
  uint8_t* data = stbi_load_from_memory(reinterpret_cast<const uint8_t*>(file.data()), static_cast<int>(file.size()),
                                        &width, &height, &parts, 3);
  if (data == nullptr) throw std::runtime_error("stb cannot read it");
  Pixels pixels = {.width = static_cast<uint32_t>(width), .height = static_cast<uint32_t>(height), .rgb = {}};
  pixels.rgb.assign(data, data + size_t{3} * pixels.width * pixels.height);
  stbi_image_free(data);
  return pixels;
}

std::vector<float> Tone(uint32_t rate, double seconds) {
  std::vector<float> samples(static_cast<size_t>(rate * seconds));
  for (size_t i = 0; i < samples.size(); ++i) {
    const double time = static_cast<double>(i) / rate;
    samples[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * (220 + 100 * time) * time));
  }
  return samples;
}

std::string Wav(uint32_t rate, const std::vector<float>& samples) {
  constexpr uint16_t kFloats = 3, kChannels = 1, kBytes = sizeof(float);
  const auto size = static_cast<uint32_t>(samples.size() * sizeof(float));
  std::string bytes = "RIFF";
  Add(&bytes, uint32_t{36} + size);
  bytes += "WAVEfmt ";
  Add(&bytes, uint32_t{16});
  Add(&bytes, kFloats);
  Add(&bytes, kChannels);
  Add(&bytes, rate);
  Add(&bytes, rate * kBytes);
  Add(&bytes, kBytes);
  Add(&bytes, static_cast<uint16_t>(8 * kBytes));
  bytes += "data";
  Add(&bytes, size);
  return bytes.append(reinterpret_cast<const char*>(samples.data()), size);
}

std::string Base64(const std::string& bytes) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i) text += at + i > bytes.size() ? '=' : kDigits[three >> (18 - 6 * i) & 63];
  }
  return text;
}

}  // namespace wasinn::test
