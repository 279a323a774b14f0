#include "common/proto_reader.h"

namespace wasinn::backend {

bool ProtoReader::ReadVarint(uint64_t* value) {
  constexpr unsigned kMostBits = 64;
  *value = 0;
  for (unsigned shift = 0; shift < kMostBits; shift += 7) {
    if (rest_.empty()) return false;
    const uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool ProtoReader::ReadBytes(uint64_t size, std::span<const uint8_t>* bytes) {
  if (size > rest_.size()) return false;
  *bytes = rest_.first(static_cast<size_t>(size));
  rest_ = rest_.subspan(static_cast<size_t>(size));
  return true;
}

bool ProtoReader::ReadValue(uint64_t wire_type, ProtoField* field) {
  std::span<const uint8_t> ignored;
  switch (wire_type) {
    case 0:
      field->type = ProtoField::Type::kVarint;
      return ReadVarint(&field->value);
    case 1:
      field->type = ProtoField::Type::kFixed;
      return ReadBytes(8, &ignored);
    case 2: {
      uint64_t size = 0;
      field->type = ProtoField::Type::kBytes;
      return ReadVarint(&size) && ReadBytes(size, &field->bytes);
    }
    case 5:
      field->type = ProtoField::Type::kFixed;
      return ReadBytes(4, &ignored);
    default:
      return false;
  }
}

bool ProtoReader::Next(ProtoField* field) {
  if (broken_ || rest_.empty()) return false;
  uint64_t tag = 0;
  *field = {};
  broken_ = true;
  if (!ReadVarint(&tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
  field->number = static_cast<uint32_t>(tag >> 3);
  broken_ = !ReadValue(tag & 7, field);
  return !broken_;
}

}  // namespace wasinn::backend
