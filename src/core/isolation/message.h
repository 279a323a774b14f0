// Messages between a host and its worker, number by number. A message may come from an attacker: the reader never goes
// past its end, and after any error all further values read as zero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace wasinn::isolation {

// The largest packet: the kernel has this much memory for each socket by default. Longer messages go through a segment.
inline constexpr size_t kMostBytes = 160u << 10;
// The longest of those: the signature of a model with a million inputs.
inline constexpr size_t kMostLongBytes = 256u << 20;

// Writes into a buffer that grows. Its former content is lost.
class Writer {
 public:
  explicit Writer(std::vector<uint8_t>& buffer) : buffer_(buffer) {}

  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void Number(T value) {
    Bytes(&value, sizeof(value));
  }
  // With a NUL behind it, so that it can be used in place.
  void Text(std::string_view text) {
    Number(static_cast<uint32_t>(text.size()));
    Bytes(text.data(), text.size());
    Number('\0');
  }
  void Bytes(const void* data, size_t size) {
    if (size > buffer_.size() - used_) buffer_.resize(std::max(2 * buffer_.size(), used_ + size));
    if (size > 0) std::memcpy(buffer_.data() + used_, data, size);
    used_ += size;
  }
  // Overwrites a number that was written before.
  template <typename T>
  void NumberAt(size_t used, T value) {
    std::memcpy(buffer_.data() + used, &value, sizeof(T));
  }

  void Clear() { used_ = 0; }

  size_t used() const { return used_; }
  std::span<const uint8_t> written() const { return {buffer_.data(), used_}; }

 private:
  std::vector<uint8_t>& buffer_;
  size_t used_ = 0;
};

class Reader {
 public:
  Reader() = default;
  explicit Reader(std::span<const uint8_t> message) : left_(message) {}

  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  T Number() {
    T value{};
    if (const uint8_t* data = Take(sizeof(T))) std::memcpy(&value, data, sizeof(T));
    return value;
  }
  // The text is inside of the message, with a NUL behind it.
  std::string_view Text() {
    const size_t size = Number<uint32_t>();
    const uint8_t* data = Take(size + 1);
    if (data != nullptr && data[size] != 0) ok_ = false;
    return ok_ ? std::string_view(reinterpret_cast<const char*>(data), size) : std::string_view("");
  }
  // Bytes in place; NULL if there are too few.
  const uint8_t* Take(size_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return nullptr;
    }
    const uint8_t* data = left_.data();
    left_ = left_.subspan(size);
    return data;
  }

  size_t left() const { return left_.size(); }
  bool ok() const { return ok_; }
  // The whole message was valid, and nothing is left.
  bool ended() const { return ok_ && left_.empty(); }

 private:
  std::span<const uint8_t> left_;
  bool ok_ = true;
};

}  // namespace wasinn::isolation
