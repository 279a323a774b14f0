// Writes messages of Protocol Buffers, whole ones and broken ones, field by field.
#pragma once

#include <cstdint>
#include <string>

namespace wasinn::test {

// The bytes of one message.
class Proto {
 public:
  Proto& Int(uint32_t field, uint64_t value) {
    Varint(uint64_t{field} << 3);
    Varint(value);
    return *this;
  }
  Proto& Text(uint32_t field, const std::string& text) {
    Varint(uint64_t{field} << 3 | 2);
    Varint(text.size());
    bytes_ += text;
    return *this;
  }
  Proto& Add(uint32_t field, const Proto& message) { return Text(field, message.bytes_); }
  Proto& Raw(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace wasinn::test
