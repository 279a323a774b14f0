#include "backends/media_attacks.h"

#include <algorithm>
#include <array>

namespace wasinn::test {

namespace {

std::string LittleEndian(uint64_t number, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i & 0xff);
  return text;
}

std::string BigEndian(uint64_t number, size_t bytes) {
  std::string text = LittleEndian(number, bytes);
  std::ranges::reverse(text);
  return text;
}

// The lowest bit first.
class Bits {
 public:
  void Put(uint32_t value, unsigned n) {
    for (unsigned i = 0; i < n; ++i, ++n_) {
      if (n_ % 8 == 0) bytes_ += '\0';
      bytes_.back() = static_cast<char>(bytes_.back() | (value >> i & 1) << n_ % 8);
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  size_t n_ = 0;
};

// A code of one symbol, and one of 11 symbols with 1 to 10 bits, for which a decoder makes a table of 1,024 places.
void PutOneSymbol(Bits* bits, uint32_t symbol) {
  constexpr uint32_t kSimpleOfOneWithEightBits = 0b101;
  bits->Put(kSimpleOfOneWithEightBits, 3);
  bits->Put(symbol, 8);
}

void PutTable(Bits* bits) {
  constexpr std::array kOrder = {17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  bits->Put(0, 1);
  bits->Put(kOrder.size() - 4, 4);
  for (const int symbol : kOrder) bits->Put(symbol < 16 ? 4 : 0, 3);  // lengths 0 to 15, of four bits each
  constexpr std::array<uint32_t, 11> kLengths = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10};
  bits->Put(1, 1);
  bits->Put(1, 3);
  bits->Put(kLengths.size() - 2, 4);
  for (const uint32_t length : kLengths) {
    for (int bit = 3; bit >= 0; --bit) bits->Put(length >> bit & 1, 1);
  }
}

uint32_t Crc(const std::string& bytes, unsigned width, uint32_t polynomial) {
  uint32_t crc = 0;
  for (const char byte : bytes) {
    crc ^= static_cast<uint32_t>(static_cast<uint8_t>(byte)) << (width - 8);
    for (int i = 0; i < 8; ++i) crc = crc << 1 ^ (crc >> (width - 1) & 1 ? polynomial : 0);
  }
  return crc & ((1U << width) - 1);
}

// A frame with a number below 128.
std::string FlacFrame(uint32_t number, uint16_t sample) {
  // 192 samples of the stream's rate and size, of one channel.
  std::string frame = std::string("\xff\xf8\x10\x00", 4) + static_cast<char>(number);
  frame += static_cast<char>(Crc(frame, 8, 0x07));
  frame += '\0' + BigEndian(sample, 2);
  return frame + BigEndian(Crc(frame, 16, 0x8005), 2);
}

}  // namespace

std::string WebpChunk(const std::string& name, const std::string& contents) {
  return name + LittleEndian(contents.size(), 4) + contents + std::string(contents.size() % 2, '\0');
}

std::string Webp(const std::string& chunks) { return "RIFF" + LittleEndian(chunks.size() + 4, 4) + "WEBP" + chunks; }

std::string WebpCanvas(uint32_t width, uint32_t height, bool moves) {
  return WebpChunk("VP8X", LittleEndian(moves ? 2 : 0, 4) + LittleEndian(width - 1, 3) + LittleEndian(height - 1, 3));
}

std::string Vp8Zeros(uint32_t width, uint32_t height) {
  const uint64_t blocks = uint64_t{(width + 15) / 16} * ((height + 15) / 16);
  const uint64_t first = std::min<uint64_t>(1000 + blocks, (1 << 19) - 1), rest = 1000 + 3 * blocks;
  constexpr uint64_t kShown = 1 << 4;
  return LittleEndian(kShown | first << 5, 3) + "\x9d\x01\x2a" + LittleEndian(width, 2) + LittleEndian(height, 2) +
         std::string(first + rest, '\0');
}

std::string WebpOfTables(uint32_t groups) {
  Bits bits;
  bits.Put(0x2f, 8);
  constexpr uint32_t kSide = 16;
  bits.Put(kSide - 1, 14);
  bits.Put(kSide - 1, 14);
  bits.Put(0, 1 + 3);  // no alpha, version 0
  bits.Put(0, 1 + 1);  // no transform, no colors kept
  bits.Put(1, 1 + 3);  // groups, for squares of four pixels
  bits.Put(0, 1);
  PutOneSymbol(&bits, (groups - 1) & 0xff);
  PutOneSymbol(&bits, (groups - 1) >> 8);
  for (int i = 0; i < 3; ++i) PutOneSymbol(&bits, 0);
  constexpr uint32_t kCodes = 5;
  for (uint32_t i = 0; i < groups * kCodes; ++i) PutTable(&bits);
  return Webp(WebpChunk("VP8L", bits.bytes() + std::string(4096, '\0')));
}

std::string FlacBlock(uint8_t kind, const std::string& contents) {
  return static_cast<char>(kind) + BigEndian(contents.size(), 3) + contents;
}

std::string Flac(uint32_t rate, uint32_t frames, const std::string& blocks) {
  constexpr uint64_t kSamples = 192, kBits = 16;
  const std::string stream = BigEndian(kSamples, 2) + BigEndian(kSamples, 2) + std::string(6, '\0') +
                             BigEndian(uint64_t{rate} << 44 | (kBits - 1) << 36 | kSamples * frames, 8) +
                             std::string(16, '\0');
  constexpr uint8_t kPadding = 1, kLast = 0x80;
  std::string file = "fLaC" + FlacBlock(0, stream) + blocks + FlacBlock(kPadding | kLast, std::string(4, '\0'));
  for (uint32_t i = 0; i < frames; ++i) file += FlacFrame(i, static_cast<uint16_t>(i * 997 % 16384));
  return file;
}

}  // namespace wasinn::test
