// Reads the wire format of Protocol Buffers within checked bounds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wasinn::base {

// Takes a number from the front. Returns false if it is broken.
inline bool TakeVarint(std::span<const uint8_t>* rest, uint64_t* value) {
  constexpr unsigned kMaxBits = 64;
  *value = 0;
  for (unsigned shift = 0; shift < kMaxBits && !rest->empty(); shift += 7) {
    const uint8_t byte = rest->front();
    *rest = rest->subspan(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// A field of a message: a number, or bytes inside the message.
struct ProtoField {
  enum class Type { kVarint, kFixed, kBytes, kGroup, kGroupEnd };

  uint32_t number = 0;
  Type type = Type::kVarint;
  uint64_t value = 0;              // for kVarint
  std::span<const uint8_t> bytes;  // for kBytes, and 4 or 8 for kFixed

  bool IsVarint(uint32_t its_number) const { return number == its_number && type == Type::kVarint; }
  bool IsBytes(uint32_t its_number) const { return number == its_number && type == Type::kBytes; }
  // One or, packed, any number of them.
  bool HasVarints() const { return type == Type::kVarint || type == Type::kBytes; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// Iterates over the fields of one message. Groups are broken fields, or are skipped as unknown ones: neither ONNX,
// TensorFlow nor the inference protocol has any.
class ProtoReader {
 public:
  // `beyond` more bytes of the message are not in memory. A field that continues there counts as whole.
  explicit ProtoReader(std::span<const uint8_t> message, uint64_t beyond = 0) : rest_(message), beyond_(beyond) {}
  // A group is a field without content.
  static ProtoReader WithGroups(std::span<const uint8_t> message) {
    ProtoReader reader(message);
    reader.has_groups_ = true;
    return reader;
  }

  // False at the end of the bytes, or at a broken field; broken() distinguishes the two.
  bool Next(ProtoField* field) {
    if (broken_ || rest_.empty()) return false;
    const bool is_read = ReadField(field);
    if (is_read && field->type != ProtoField::Type::kGroupEnd) return true;
    broken_ = is_read || !rest_.empty() || beyond_ == 0;
    return false;
  }
  bool broken() const { return broken_; }

 private:
  static constexpr size_t kMaxTagBytes = 5;

  bool ReadField(ProtoField* field) {
    uint64_t varint = 0;
    *field = {};
    const size_t before = rest_.size();
    if (!TakeVarint(&rest_, &varint) || before - rest_.size() > kMaxTagBytes) return false;
    const auto tag = static_cast<uint32_t>(varint);  // as Protocol Buffers reads it: higher bits have no meaning
    if (tag >> 3 == 0) return false;
    field->number = tag >> 3;
    uint64_t size = 0;
    switch (tag & 7) {
      case 0:
        return TakeVarint(&rest_, &field->value);
      case 1:
      case 5:
        field->type = ProtoField::Type::kFixed;
        return ReadBytes((tag & 7) == 1 ? 8 : 4, &field->bytes);
      case 2:
        field->type = ProtoField::Type::kBytes;
        return TakeVarint(&rest_, &size) && ReadBytes(size, &field->bytes);
      case 3:
        field->type = ProtoField::Type::kGroup;
        return has_groups_ && SkipGroup(field->number);
      case 4:
        field->type = ProtoField::Type::kGroupEnd;
        return true;
      default:
        return false;
    }
  }
  bool SkipGroup(uint32_t number) {
    constexpr int kDeepest = 100;  // as in Protocol Buffers
    if (depth_ == kDeepest) return false;
    ++depth_;
    for (ProtoField inner; ReadField(&inner);) {
      if (inner.type != ProtoField::Type::kGroupEnd) continue;
      --depth_;
      return inner.number == number;
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
  bool has_groups_ = false;
  int depth_ = 0;
  bool broken_ = false;
};

// Calls `use` for each field. False: the message is broken.
template <typename Use>
bool ForEachField(ProtoReader reader, Use&& use) {
  for (ProtoField field; reader.Next(&field);) use(field);
  return !reader.broken();
}
template <typename Use>
bool ForEachField(std::span<const uint8_t> message, Use&& use) {
  return ForEachField(ProtoReader(message), use);
}

// Calls `use` for each number of a field, which may be packed, until it returns false. False: it did, or the field has none.
template <typename Use>
bool ForEachVarint(const ProtoField& field, Use&& use) {
  if (!field.HasVarints()) return false;
  if (field.type == ProtoField::Type::kVarint) return use(field.value);
  std::span<const uint8_t> packed = field.bytes;
  while (!packed.empty()) {
    uint64_t value = 0;
    if (!TakeVarint(&packed, &value) || !use(value)) return false;
  }
  return true;
}

}  // namespace wasinn::base
