// Reads a fuzzer's input as a series of choices. At the end of the input every choice is 0, so that any bytes are a
// complete test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace wasinn::fuzz {

class Choices {
 public:
  explicit Choices(std::span<const uint8_t> input) : rest_(input) {}

  bool done() const { return rest_.empty(); }

  template <typename T = uint8_t>
  T Number() {
    T number = 0;
    const std::span<const uint8_t> bytes = Bytes(sizeof(T));
    if (!bytes.empty()) std::memcpy(&number, bytes.data(), bytes.size());
    return number;
  }
  // A number less than `count`.
  uint32_t Index(size_t count) { return static_cast<uint32_t>(Number() % count); }
  // At most `most` bytes, and no more than the input has.
  std::span<const uint8_t> Bytes(size_t most) {
    const std::span<const uint8_t> bytes = rest_.first(std::min(most, rest_.size()));
    rest_ = rest_.subspan(bytes.size());
    return bytes;
  }
  std::string_view Text(size_t most) {
    const std::span<const uint8_t> bytes = Bytes(most);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string_view Rest() { return Text(rest_.size()); }

 private:
  std::span<const uint8_t> rest_;
};

}  // namespace wasinn::fuzz
