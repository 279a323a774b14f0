// Structs that the host passes to a backend, to read or to fill. The host may be older or newer than the backend: each
// side has as many bytes as its `struct_size` says, and new versions only append fields.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace wasinn::backend {

// The bytes that both sides have, in whole fields: every sizeof is a multiple of the alignment.
template <typename Struct>
size_t CommonSize(uint32_t struct_size) {
  const size_t size = std::min<size_t>(struct_size, sizeof(Struct)) / alignof(Struct) * alignof(Struct);
  if (size == 0) throw std::invalid_argument("the host gave a struct whose struct_size is 0");
  return size;
}

// A copy: fields that the host does not have are zero.
template <typename Struct>
Struct ReadStruct(const Struct* from) {
  Struct to = {};
  if (from != nullptr && from->struct_size == sizeof(Struct)) {  // the usual case: no call of memcpy
    to = *from;
  } else if (from != nullptr) {
    std::memcpy(&to, from, CommonSize<Struct>(from->struct_size));
  }
  to.struct_size = sizeof(Struct);
  return to;
}

// Fills the fields that the host has, except for struct_size, which stays the host's own.
template <typename Struct>
void WriteStruct(Struct* to, const Struct& from) {
  const uint32_t struct_size = to->struct_size;
  if (struct_size == sizeof(Struct)) {
    *to = from;
  } else {
    std::memcpy(to, &from, CommonSize<Struct>(struct_size));
  }
  to->struct_size = struct_size;
}

}  // namespace wasinn::backend
