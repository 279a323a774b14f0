// The hosts' form of strings: u8, with one dimension more, for the length of each, its bytes, and padding
// (WASINN_IO_STRINGS).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "common/aligned_buffer.h"
#include "common/ports.h"

namespace wasinn::backend {

// Bytes of a string's length, which precedes it.
inline constexpr uint64_t kStringLength = 4;

// Turns a port with the strings' dims into one of strings. It stays UNSERVABLE without room for one more dimension.
void MakeStrings(Port& port);

// The strings of an input. The bytes may change concurrently.
class StringsOf {
 public:
  // WASINN_ERROR_INVALID_ARGUMENT: they are invalid.
  StringsOf(const Port& port, std::span<const int64_t> dims, const void* data);

  std::span<const int64_t> dims() const { return dims_; }
  uint64_t size() const { return size_; }
  // Throws WASINN_ERROR_INVALID_ARGUMENT if the length is greater than the place of the string.
  std::string_view At(uint64_t index) const;

 private:
  const Port& port_;
  std::span<const int64_t> dims_;
  uint64_t size_, width_;
  const uint8_t* data_;
};

// Memory for the strings of an output.
class StringsMemory {
 public:
  // Their bytes; UINT64_MAX: too many to count. Throws WASINN_ERROR_TOO_LARGE if the longest one is too long.
  static uint64_t BytesFor(const Port& port, uint64_t count, uint64_t longest);
  StringsMemory(AlignedBuffer& buffer, uint64_t count, uint64_t longest)
      : data_(static_cast<uint8_t*>(buffer.data())), width_(longest + kStringLength) {
    std::memset(data_, 0, count * width_);
  }

  int64_t width() const { return static_cast<int64_t>(width_); }
  void Set(uint64_t index, std::string_view text) {
    const auto length = static_cast<uint32_t>(text.size());
    std::memcpy(data_ + index * width_, &length, kStringLength);  // little-endian, like the host
    if (!text.empty()) std::memcpy(data_ + index * width_ + kStringLength, text.data(), text.size());
  }

 private:
  uint8_t* const data_;
  const uint64_t width_;
};

}  // namespace wasinn::backend
