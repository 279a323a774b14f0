#include "proto_reader.h"

#include <cstring>

namespace wasinn::testing {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Fields of TensorProto.
enum TensorField : uint32_t {
  kDims = 1,
  kDataType = 2,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
};

void Append(uint64_t value, size_t size, std::vector<uint8_t>* out) {
  for (size_t i = 0; i < size; ++i) out->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

// A repeated number, which may come one by one or packed.
bool ReadNumbers(const ProtoReader& field, std::vector<uint64_t>* out) {
  if (!field.has_bytes()) {
    out->push_back(field.number());
    return true;
  }
  ProtoReader packed(field.bytes());
  while (!packed.empty()) {
    uint64_t value = 0;
    if (!packed.TakeVarint(&value)) return false;
    out->push_back(value);
  }
  return true;
}

// Floats and doubles: their bits are the elements' already.
void AppendFixed(const ProtoReader& field, size_t size, std::vector<uint8_t>* out) {
  if (field.has_bytes()) {
    out->insert(out->end(), field.bytes().begin(), field.bytes().end());
  } else {
    Append(field.number(), size, out);
  }
}

bool ReadField(const ProtoReader& field, OnnxTensor* out, std::vector<uint64_t>* numbers) {
  switch (field.field()) {
    case kDims: {
      std::vector<uint64_t> dims;
      if (!ReadNumbers(field, &dims)) return false;
      for (const uint64_t dim : dims) out->dims.push_back(static_cast<int64_t>(dim));
      return true;
    }
    case kDataType:
      if (field.has_bytes()) return false;
      out->type = static_cast<int32_t>(field.number());
      return true;
    case kFloatData:
      AppendFixed(field, sizeof(float), &out->bytes);
      return true;
    case kDoubleData:
      AppendFixed(field, sizeof(double), &out->bytes);
      return true;
    case kInt32Data:
    case kInt64Data:
    case kUint64Data:
      return ReadNumbers(field, numbers);
    case kRawData:
      if (!field.has_bytes()) return false;
      out->bytes.assign(field.bytes().begin(), field.bytes().end());
      return true;
    case kStringData:
    case kExternalData:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool ProtoReader::Fail() {
  ok_ = false;
  rest_ = {};
  return false;
}

bool ProtoReader::TakeVarint(uint64_t* out) {
  uint64_t value = 0;
  for (size_t i = 0; i < 10 && i < rest_.size(); ++i) {
    value |= static_cast<uint64_t>(rest_[i] & 0x7f) << (7 * i);
    if ((rest_[i] & 0x80) != 0) continue;
    rest_ = rest_.subspan(i + 1);
    *out = value;
    return true;
  }
  return Fail();
}

bool ProtoReader::TakeFixed(size_t size, uint64_t* out) {
  if (rest_.size() < size) return Fail();
  *out = 0;
  for (size_t i = 0; i < size; ++i) *out |= static_cast<uint64_t>(rest_[i]) << (8 * i);
  rest_ = rest_.subspan(size);
  return true;
}

bool ProtoReader::Next() {
  uint64_t key = 0;
  if (rest_.empty() || !TakeVarint(&key)) return false;
  field_ = static_cast<uint32_t>(key >> 3);
  has_bytes_ = false;
  switch (key & 7) {
    case kVarint:
      return TakeVarint(&number_);
    case kFixed32:
      return TakeFixed(4, &number_);
    case kFixed64:
      return TakeFixed(8, &number_);
    case kBytes: {
      uint64_t length = 0;
      if (!TakeVarint(&length)) return false;
      if (length > rest_.size()) return Fail();
      bytes_ = rest_.first(static_cast<size_t>(length));
      rest_ = rest_.subspan(static_cast<size_t>(length));
      has_bytes_ = true;
      return true;
    }
    default:
      return Fail();
  }
}

size_t ElementBits(int32_t type) {
  switch (type) {
    case kOnnxUint4:
    case kOnnxInt4:
      return 4;
    case kOnnxUint8:
    case kOnnxInt8:
    case kOnnxBool:
      return 8;
    case kOnnxUint16:
    case kOnnxInt16:
    case kOnnxFloat16:
    case kOnnxBfloat16:
      return 16;
    case kOnnxFloat:
    case kOnnxInt32:
    case kOnnxUint32:
      return 32;
    case kOnnxDouble:
    case kOnnxInt64:
    case kOnnxUint64:
    case kOnnxComplex64:
      return 64;
    case kOnnxComplex128:
      return 128;
    default:
      return type >= kOnnxFirstFloat8 && type <= kOnnxLastFloat8 ? 8 : 0;
  }
}

bool TensorBytes(int32_t type, std::span<const int64_t> dims, size_t* out) {
  constexpr uint64_t kMost = uint64_t{1} << 31;  // what a guest could hold
  uint64_t bits = ElementBits(type);
  if (bits == 0) return false;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return false;
    if (dim == 0) empty = true;
  }
  for (const int64_t dim : dims) {
    if (empty) break;
    if (static_cast<uint64_t>(dim) > 8 * kMost / bits) return false;
    bits *= static_cast<uint64_t>(dim);
  }
  *out = empty ? 0 : static_cast<size_t>((bits + 7) / 8);
  return true;
}

bool ReadTensorProto(std::span<const uint8_t> message, OnnxTensor* out) {
  *out = {};
  std::vector<uint64_t> numbers;
  ProtoReader field(message);
  while (field.Next()) {
    if (!ReadField(field, out, &numbers)) return false;
  }
  size_t expected = 0;
  if (!field.ok() || !TensorBytes(out->type, out->dims, &expected)) return false;
  // A number of int32_data is one element, or two of 4 bits.
  const size_t bits = ElementBits(out->type);
  for (const uint64_t number : numbers) Append(number, bits < 8 ? 1 : bits / 8, &out->bytes);
  return out->bytes.size() == expected;
}

}  // namespace wasinn::testing
