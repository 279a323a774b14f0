// The element types of the Open Inference Protocol, their forms for guests of wasi:nn, and the layout of BYTES: each element
// after its length, four bytes, little-endian.
#pragma once

#include <wasinn/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::oip {

struct Datatype {
  std::string_view name;  // "FP32"
  wasinn_dtype dtype;     // UNKNOWN: BYTES
  size_t size;            // bytes of an element; 0: BYTES, whose elements have their own sizes
  uint32_t wit;           // tensor-type of wasi:nn
  uint32_t wit_elements;  // elements of that type for one of these: the factor of the last dimension
};

// NULL: there is none of this name, or for this type.
const Datatype* FindDatatype(std::string_view name);
const Datatype* FindDatatype(wasinn_dtype dtype);
// The type of texts.
const Datatype& Bytes();
// For a tensor whose model does not report its type, by wasi:nn.
const Datatype& OfWit(uint32_t tensor_type);

// Calls `use` with a value of the elements' type. Returns false if C++ has no such type: for BYTES, FP16 and BF16.
template <typename Use>
bool WithElementType(wasinn_dtype dtype, Use&& use) {
  switch (dtype) {
    case WASINN_DTYPE_BOOL:
      return use(bool{}), true;
    case WASINN_DTYPE_I8:
      return use(int8_t{}), true;
    case WASINN_DTYPE_I16:
      return use(int16_t{}), true;
    case WASINN_DTYPE_I32:
      return use(int32_t{}), true;
    case WASINN_DTYPE_I64:
      return use(int64_t{}), true;
    case WASINN_DTYPE_U8:
      return use(uint8_t{}), true;
    case WASINN_DTYPE_U16:
      return use(uint16_t{}), true;
    case WASINN_DTYPE_U32:
      return use(uint32_t{}), true;
    case WASINN_DTYPE_U64:
      return use(uint64_t{}), true;
    case WASINN_DTYPE_F32:
      return use(float{}), true;
    case WASINN_DTYPE_F64:
      return use(double{}), true;
    default:
      return false;
  }
}

inline constexpr size_t kLengthBytes = sizeof(uint32_t);

void AppendElement(std::string& tensor, std::span<const uint8_t> element);

// No value if the lengths do not fit the bytes.
std::optional<std::vector<std::string_view>> Elements(std::span<const uint8_t> tensor);
// Counts them without allocating.
std::optional<uint64_t> CountElements(std::span<const uint8_t> tensor);
// The only element; no value if there are none or several.
std::optional<std::span<const uint8_t>> OnlyElement(std::span<const uint8_t> tensor);

}  // namespace wasinn::oip
