#include "wav.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>

namespace {

using Bytes = std::span<const uint8_t>;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

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

// Little-endian numbers; the callers have checked that the bytes are there.
uint16_t Get16(Bytes bytes, size_t at) { return static_cast<uint16_t>(bytes[at] | bytes[at + 1] << 8); }
uint32_t Get32(Bytes bytes, size_t at) { return Get16(bytes, at) | static_cast<uint32_t>(Get16(bytes, at + 2)) << 16; }

bool IsTag(Bytes bytes, size_t at, const char* tag) { return std::memcmp(bytes.data() + at, tag, 4) == 0; }

bool CheckFormat(Bytes chunk, std::string* error) {
  constexpr uint16_t kPcm = 1, kExtensible = 0xfffe;
  if (chunk.size() < 16) {
    *error = "its format chunk is too short";
    return false;
  }
  uint16_t format = Get16(chunk, 0);
  // The extensible form keeps the true format at the head of a GUID.
  if (format == kExtensible && chunk.size() >= 40) format = Get16(chunk, 24);
  const unsigned channels = Get16(chunk, 2), rate = Get32(chunk, 4), bits = Get16(chunk, 14);
  if (format == kPcm && channels == 1 && rate == kSampleRate && bits == 16) return true;
  char text[160];
  std::snprintf(text, sizeof(text),
                "need 16-bit PCM, 1 channel, %d Hz; this is format %u with %u bits, %u channel%s, %u Hz", kSampleRate,
                format, bits, channels, channels == 1 ? "" : "s", rate);
  *error = text;
  return false;
}

// Finds the samples' bytes among the chunks of the file.
bool FindSamples(Bytes file, Bytes* data, std::string* error) {
  if (file.size() < 12 || !IsTag(file, 0, "RIFF") || !IsTag(file, 8, "WAVE")) {
    *error = "not a WAV file";
    return false;
  }
  bool format_seen = false;
  size_t at = 12;
  while (file.size() - at >= 8) {
    const size_t begin = at + 8;
    const size_t left = file.size() - begin;
    const size_t size = Get32(file, at + 4);
    if (IsTag(file, at, "data")) {
      if (!format_seen) break;
      // A program that wrote to a pipe could not know the size and wrote a huge one: then the rest of the file is
      // taken.
      *data = file.subspan(begin, std::min(size, left));
      return true;
    }
    if (size > left) break;
    if (IsTag(file, at, "fmt ")) {
      if (!CheckFormat(file.subspan(begin, size), error)) return false;
      format_seen = true;
    }
    // Chunks begin at even offsets.
    at = begin + std::min(size + size % 2, left);
  }
  *error = format_seen ? "it has no samples" : "it has no format chunk before its samples";
  return false;
}

}  // namespace

bool ReadWav(const char* path, std::vector<float>* samples, std::string* error) {
  std::vector<uint8_t> file;
  Bytes data;
  if (!ReadFile(path, &file, error) || !FindSamples(file, &data, error)) return false;
  samples->resize(data.size() / 2);
  for (size_t i = 0; i < samples->size(); ++i) {
    (*samples)[i] = static_cast<float>(static_cast<int16_t>(Get16(data, 2 * i))) / 32768.0f;
  }
  return true;
}
