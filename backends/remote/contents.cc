#include "remote/contents.h"

#include <google/protobuf/io/coded_stream.h>

#include <concepts>
#include <cstring>
#include <utility>

#include <inference.pb.h>
#include "base/proto_reader.h"

namespace wasinn::remote {

using base::ProtoField;
using base::ProtoReader;
using google::protobuf::io::CodedInputStream;

namespace {

using Contents = inference::InferTensorContents;

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

class Decoder {
 public:
  Decoder(std::string_view contents, std::span<uint8_t> out) : contents_(BytesOf(contents)), rest_(out) {}

  // Each number has the wire type Wire, and must fit T.
  template <typename T, typename Wire>
  bool Integers(uint32_t number) {
    return ForEach(number, [this](const ProtoField& field) {
      if (field.type == ProtoField::Type::kVarint) return Append<T>(static_cast<Wire>(field.value));
      if (field.type != ProtoField::Type::kBytes) return false;
      CodedInputStream packed(field.bytes.data(), static_cast<int>(field.bytes.size()));
      while (packed.CurrentPosition() < static_cast<int>(field.bytes.size())) {
        uint64_t value = 0;
        if (!packed.ReadVarint64(&value) || !Append<T>(static_cast<Wire>(value))) return false;
      }
      return true;
    });
  }
  // Reads packed numbers, as proto3 writes them.
  bool Floats(uint32_t number) {
    return ForEach(number, [this](const ProtoField& field) {
      if (field.type != ProtoField::Type::kBytes || field.bytes.size() > rest_.size()) return false;
      if (!field.bytes.empty()) std::memcpy(rest_.data(), field.bytes.data(), field.bytes.size());
      rest_ = rest_.subspan(field.bytes.size());
      return true;
    });
  }

 private:
  template <typename Use>
  bool ForEach(uint32_t number, Use use) {
    ProtoReader reader(contents_);
    ProtoField field;
    while (reader.Next(&field)) {
      if (field.number == number && !use(field)) return false;
    }
    return !reader.broken() && rest_.empty();
  }
  template <typename T, typename Wire>
  bool Append(Wire value) {
    T element;
    if constexpr (std::same_as<Wire, bool>) {
      element = value ? 1 : 0;
    } else {
      if (!std::in_range<T>(value)) return false;
      element = static_cast<T>(value);
    }
    if (rest_.size() < sizeof element) return false;
    std::memcpy(rest_.data(), &element, sizeof element);
    rest_ = rest_.subspan(sizeof element);
    return true;
  }

  const std::span<const uint8_t> contents_;
  std::span<uint8_t> rest_;
};

}  // namespace

bool DecodeContents(std::string_view contents, uint32_t dtype, std::span<uint8_t> out) {
  Decoder decoder(contents, out);
  switch (dtype) {
    case WASINN_DTYPE_BOOL:
      return decoder.Integers<uint8_t, bool>(Contents::kBoolContentsFieldNumber);
    case WASINN_DTYPE_I8:
      return decoder.Integers<int8_t, int32_t>(Contents::kIntContentsFieldNumber);
    case WASINN_DTYPE_I16:
      return decoder.Integers<int16_t, int32_t>(Contents::kIntContentsFieldNumber);
    case WASINN_DTYPE_I32:
      return decoder.Integers<int32_t, int32_t>(Contents::kIntContentsFieldNumber);
    case WASINN_DTYPE_I64:
      return decoder.Integers<int64_t, int64_t>(Contents::kInt64ContentsFieldNumber);
    case WASINN_DTYPE_U8:
      return decoder.Integers<uint8_t, uint32_t>(Contents::kUintContentsFieldNumber);
    case WASINN_DTYPE_U16:
      return decoder.Integers<uint16_t, uint32_t>(Contents::kUintContentsFieldNumber);
    case WASINN_DTYPE_U32:
      return decoder.Integers<uint32_t, uint32_t>(Contents::kUintContentsFieldNumber);
    case WASINN_DTYPE_U64:
      return decoder.Integers<uint64_t, uint64_t>(Contents::kUint64ContentsFieldNumber);
    case WASINN_DTYPE_F32:
      return decoder.Floats(Contents::kFp32ContentsFieldNumber);
    case WASINN_DTYPE_F64:
      return decoder.Floats(Contents::kFp64ContentsFieldNumber);
    default:
      return false;  // FP16 and BF16 have no field
  }
}

bool TextOfContents(std::string_view contents, std::string_view* text) {
  ProtoReader reader(BytesOf(contents));
  ProtoField field;
  int n = 0;
  while (reader.Next(&field)) {
    if (field.number != Contents::kBytesContentsFieldNumber || field.type != ProtoField::Type::kBytes) continue;
    *text = field.text();
    ++n;
  }
  return !reader.broken() && n == 1;
}

}  // namespace wasinn::remote
