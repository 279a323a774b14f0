// The element types of the Open Inference Protocol, and how a guest of wasi:nn says each of them.
#pragma once

#include <wasinn/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wasinn::serve {

struct Datatype {
  std::string_view name;  // "FP32"
  wasinn_dtype dtype;     // UNKNOWN: BYTES
  size_t size;            // bytes of an element; 0: BYTES, whose elements tell it
  uint32_t wit;           // tensor-type of wasi:nn
  uint32_t wit_elements;  // of that type for one of these: the last dimension is so many times as long
};

// NULL: there is none of this name, or for this type.
const Datatype* FindDatatype(std::string_view name);
const Datatype* FindDatatype(wasinn_dtype dtype);
// What texts have: elements that begin with their length, four bytes, little-endian.
const Datatype& Bytes();
// Of a tensor whose model does not tell its type, as wasi:nn shows it.
const Datatype& OfWit(uint32_t tensor_type);

}  // namespace wasinn::serve
