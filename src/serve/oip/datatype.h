// The element types of the Open Inference Protocol, and their forms for guests of wasi:nn.
#pragma once

#include <wasinn/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wasinn::serve {

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
// The type of texts: elements after their length, four bytes, little-endian.
const Datatype& Bytes();
// For a tensor whose model does not report its type, by wasi:nn.
const Datatype& OfWit(uint32_t tensor_type);

}  // namespace wasinn::serve
