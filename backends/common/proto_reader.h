// The wire format of Protocol Buffers, read with checked bounds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wasinn::backend {

// A field as it lies in the message: a number, or bytes within the message.
struct ProtoField {
  enum class Type { kVarint, kFixed, kBytes };

  uint32_t number = 0;
  Type type = Type::kVarint;
  uint64_t value = 0;              // of kVarint
  std::span<const uint8_t> bytes;  // of kBytes

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// Goes through the fields of one message. What it accepts is a little less than what Protocol Buffers accept: no
// groups, which neither ONNX nor TensorFlow has.
class ProtoReader {
 public:
  explicit ProtoReader(std::span<const uint8_t> message) : rest_(message) {}

  // False at the end of the message, or where it is broken; then broken() tells which.
  bool Next(ProtoField* field);
  bool broken() const { return broken_; }

 private:
  bool ReadVarint(uint64_t* value);
  bool ReadBytes(uint64_t size, std::span<const uint8_t>* bytes);
  bool ReadValue(uint64_t wire_type, ProtoField* field);

  std::span<const uint8_t> rest_;
  bool broken_ = false;
};

}  // namespace wasinn::backend
