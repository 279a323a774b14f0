// Messages between a host and its worker, number by number. What is read may be an attacker's: nothing beyond its end is
// read, and whatever is wrong makes all that follows read as zero.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace wasinn::isolation {

// The largest message. A packet of a socket is in memory of the kernel, which has as much for each by default.
inline constexpr size_t kMostBytes = 160u << 10;

class Writer {
 public:
  explicit Writer(std::span<uint8_t> buffer) : buffer_(buffer) {}

  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void Number(T value) {
    Bytes(&value, sizeof(value));
  }
  void Text(std::string_view text) {
    Number(static_cast<uint32_t>(text.size()));
    Bytes(text.data(), text.size());
  }
  void Bytes(const void* data, size_t size) {
    if (size > buffer_.size() - used_) {
      fits_ = false;
      return;
    }
    if (size > 0) std::memcpy(buffer_.data() + used_, data, size);
    used_ += size;
  }

  // In the place of one that was written there.
  template <typename T>
  void NumberAt(size_t used, T value) {
    if (used + sizeof(T) <= used_) std::memcpy(buffer_.data() + used, &value, sizeof(T));
  }

  // False: it was more than the buffer takes.
  bool fits() const { return fits_; }
  size_t used() const { return used_; }
  std::span<const uint8_t> written() const { return buffer_.first(used_); }

 private:
  const std::span<uint8_t> buffer_;
  size_t used_ = 0;
  bool fits_ = true;
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
  // It lies in the message.
  std::string_view Text() {
    const auto size = Number<uint32_t>();
    const uint8_t* data = Take(size);
    return data == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
  }

  bool ok() const { return ok_; }
  // All of it was as it must be, and nothing is left.
  bool ended() const { return ok_ && left_.empty(); }

 private:
  const uint8_t* Take(size_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return nullptr;
    }
    const uint8_t* data = left_.data();
    left_ = left_.subspan(size);
    return data;
  }

  std::span<const uint8_t> left_;
  bool ok_ = true;
};

}  // namespace wasinn::isolation
