// Reads the wire format of Protocol Buffers within checked bounds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wasinn::base {

// A field of a message: a number, or bytes inside the message.
struct ProtoField {
  enum class Type { kVarint, kFixed, kBytes };

  uint32_t number = 0;
  Type type = Type::kVarint;
  uint64_t value = 0;              // for kVarint
  std::span<const uint8_t> bytes;  // for kBytes

  bool IsVarint(uint32_t its_number) const { return number == its_number && type == Type::kVarint; }
  bool IsBytes(uint32_t its_number) const { return number == its_number && type == Type::kBytes; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// Iterates over the fields of one message. It accepts a little less than Protocol Buffers do: no groups, which neither
// ONNX nor TensorFlow has.
class ProtoReader {
 public:
  // `beyond` more bytes of the message are not in memory. A field that continues there counts as whole.
  explicit ProtoReader(std::span<const uint8_t> message, uint64_t beyond = 0) : rest_(message), beyond_(beyond) {}

  // False at the end of the bytes, or at a broken field; broken() distinguishes the two.
  bool Next(ProtoField* field) {
    if (broken_ || rest_.empty()) return false;
    *field = {};
    if (ReadField(field)) return true;
    broken_ = !rest_.empty() || beyond_ == 0;
    return false;
  }
  bool broken() const { return broken_; }

 private:
  bool ReadField(ProtoField* field) {
    uint64_t tag = 0;
    if (!ReadVarint(&tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
    field->number = static_cast<uint32_t>(tag >> 3);
    uint64_t size = 0;
    std::span<const uint8_t> ignored;
    switch (tag & 7) {
      case 0:
        return ReadVarint(&field->value);
      case 1:
      case 5:
        field->type = ProtoField::Type::kFixed;
        return ReadBytes((tag & 7) == 1 ? 8 : 4, &ignored);
      case 2:
        field->type = ProtoField::Type::kBytes;
        return ReadVarint(&size) && ReadBytes(size, &field->bytes);
      default:
        return false;
    }
  }
  bool ReadVarint(uint64_t* value) {
    constexpr unsigned kMostBits = 64;
    *value = 0;
    for (unsigned shift = 0; shift < kMostBits && !rest_.empty(); shift += 7) {
      const uint8_t byte = rest_.front();
      rest_ = rest_.subspan(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool ReadBytes(uint64_t size, std::span<const uint8_t>* bytes) {
    if (size > rest_.size() && size - rest_.size() > beyond_) return false;
    *bytes = rest_.first(size < rest_.size() ? static_cast<size_t>(size) : rest_.size());
    rest_ = rest_.subspan(bytes->size());
    return true;
  }

  std::span<const uint8_t> rest_;
  const uint64_t beyond_;
  bool broken_ = false;
};

// Calls `use` for each field. False: the message is broken.
template <typename Use>
bool ForEachField(std::span<const uint8_t> message, Use&& use) {
  ProtoReader reader(message);
  for (ProtoField field; reader.Next(&field);) use(field);
  return !reader.broken();
}

}  // namespace wasinn::base
