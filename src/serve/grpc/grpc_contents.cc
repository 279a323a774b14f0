#include "serve/grpc/grpc_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <utility>

#include <inference.pb.h>
#include "serve/grpc/wire.h"
#include "serve/oip/bytes.h"
#include "serve/oip/tensor_shape.h"

namespace wasinn::serve {
namespace {

using google::protobuf::io::CodedInputStream;
using Contents = inference::InferTensorContents;

// One field of contents; another type's values would be lost.
class ContentsReader {
 public:
  ContentsReader(std::span<const uint8_t> contents, InputTensor& tensor)
      : contents_(contents), tensor_(tensor), elements_(OrThrow(CountElements(tensor))) {}

  // Each number comes as a Wire, and must be a T.
  template <typename T, typename Wire>
  void ReadIntegers(int field, Charge& charge) {
    Reserve(sizeof(T), contents_.size(), charge);
    ForEach([&](CodedInputStream& in, uint32_t tag) {
      return ReadNumbers(in, tag, field, [this](uint64_t number) {
        if constexpr (std::same_as<Wire, bool>) {
          Append<T>(uint8_t{number != 0});
        } else {
          Append<T>(static_cast<Wire>(number));
        }
      });
    });
  }
  // Elements of fixed size, read in place.
  template <std::floating_point T>
  void ReadFloats(int field, Charge& charge) {
    Reserve(sizeof(T), contents_.size() / sizeof(T), charge);
    const uint32_t one = static_cast<uint32_t>(field) << 3 | (sizeof(T) == 4 ? 5 : 1);
    ForEach([&](CodedInputStream& in, uint32_t tag) {
      if (tag != one && tag != BytesTag(field)) return false;
      uint8_t number[sizeof(T)];
      std::span<const uint8_t> bytes = number;
      if (tag == BytesTag(field)) {
        bytes = ReadBytes(in);
      } else {
        RequireWellFormed(in.ReadRaw(number, sizeof number));
      }
      RequireWellFormed(bytes.size() % sizeof(T) == 0);
      AppendBytes(bytes, sizeof(T));
      return true;
    });
  }
  void ReadTexts(Charge& charge) {
    if (!charge.Add(3 * contents_.size()))
      throw NoMemory();  // each has at least two bytes there, and four bytes of length here
    ForEach([&](CodedInputStream& in, uint32_t tag) {
      if (tag != BytesTag(Contents::kBytesContentsFieldNumber)) return false;
      AppendElement(tensor_.own, ReadBytes(in));
      return true;
    });
  }

 private:
  template <typename Read>
  void ForEach(Read read) {
    CodedInputStream in(contents_.data(), static_cast<int>(contents_.size()));
    while (const uint32_t tag = in.ReadTag()) {
      if (read(in, tag)) continue;
      if (tag >> 3 <= Contents::kBytesContentsFieldNumber) {
        ThrowInvalid(
            fmt::format("input '{}' has contents of another type than {}", tensor_.name, tensor_.datatype->name));
      }
      Skip(in, tag);
    }
    RequireWellFormed(in.ConsumedEntireMessage());
  }
  // Its shape may be anything: the contents limit the number of elements.
  void Reserve(size_t size, size_t most, Charge& charge) {
    const uint64_t bytes = std::min<uint64_t>(elements_, most) * size;
    if (!charge.Add(bytes)) throw NoMemory();
    tensor_.own.reserve(tensor_.own.size() + bytes);
  }
  template <typename T>
  void Append(auto number) {
    if (!std::in_range<T>(number)) {
      ThrowInvalid(fmt::format("input '{}': {} is not a valid {}", tensor_.name, number, tensor_.datatype->name));
    }
    const auto element = static_cast<T>(number);
    AppendBytes({reinterpret_cast<const uint8_t*>(&element), sizeof element}, sizeof element);
  }
  void AppendBytes(std::span<const uint8_t> bytes, size_t size) {
    if ((tensor_.own.size() + bytes.size()) / size > elements_) {
      ThrowInvalid(fmt::format("input '{}' has more than {} elements", tensor_.name, elements_));
    }
    tensor_.own.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  const std::span<const uint8_t> contents_;
  InputTensor& tensor_;
  const uint64_t elements_;
};

}  // namespace

void ReadContents(std::span<const uint8_t> contents, Charge& charge, InputTensor& tensor) {
  ContentsReader reader(contents, tensor);
  switch (tensor.datatype->dtype) {
    case WASINN_DTYPE_BOOL:
      return reader.ReadIntegers<uint8_t, bool>(Contents::kBoolContentsFieldNumber, charge);
    case WASINN_DTYPE_I8:
      return reader.ReadIntegers<int8_t, int32_t>(Contents::kIntContentsFieldNumber, charge);
    case WASINN_DTYPE_I16:
      return reader.ReadIntegers<int16_t, int32_t>(Contents::kIntContentsFieldNumber, charge);
    case WASINN_DTYPE_I32:
      return reader.ReadIntegers<int32_t, int32_t>(Contents::kIntContentsFieldNumber, charge);
    case WASINN_DTYPE_I64:
      return reader.ReadIntegers<int64_t, int64_t>(Contents::kInt64ContentsFieldNumber, charge);
    case WASINN_DTYPE_U8:
      return reader.ReadIntegers<uint8_t, uint32_t>(Contents::kUintContentsFieldNumber, charge);
    case WASINN_DTYPE_U16:
      return reader.ReadIntegers<uint16_t, uint32_t>(Contents::kUintContentsFieldNumber, charge);
    case WASINN_DTYPE_U32:
      return reader.ReadIntegers<uint32_t, uint32_t>(Contents::kUintContentsFieldNumber, charge);
    case WASINN_DTYPE_U64:
      return reader.ReadIntegers<uint64_t, uint64_t>(Contents::kUint64ContentsFieldNumber, charge);
    case WASINN_DTYPE_F32:
      return reader.ReadFloats<float>(Contents::kFp32ContentsFieldNumber, charge);
    case WASINN_DTYPE_F64:
      return reader.ReadFloats<double>(Contents::kFp64ContentsFieldNumber, charge);
    case WASINN_DTYPE_UNKNOWN:
      return reader.ReadTexts(charge);
    default:
      return;  // FP16 and BF16 have no field
  }
}

}  // namespace wasinn::serve
