// Structs of the C headers whose other side may be older or newer. Each side has as many bytes as its `struct_size`
// says. New versions only append fields.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/status.h"

namespace wasinn::core {

// The bytes that both sides have, in whole fields: every sizeof is a multiple of the alignment.
template <typename T>
constexpr size_t CommonSize(uint32_t struct_size) {
  return std::min<size_t>(struct_size, sizeof(T)) / alignof(T) * alignof(T);
}

// Copies the other side's struct. Fields that it lacks have the values in `absent`. A struct without any field has a
// size that was never set.
template <typename T>
Result<T> ReadStruct(const T& theirs, const char* name, const T& absent = T{}) {
  const size_t size = CommonSize<T>(theirs.struct_size);
  if (size == 0) {
    return Fail(WASINN_ERROR_INVALID_ARGUMENT, "{} has struct_size {}: expected its sizeof, {} in this version", name,
                theirs.struct_size, sizeof(T));
  }
  T known = absent;
  std::memcpy(&known, &theirs, size);
  known.struct_size = sizeof(T);
  return known;
}

// Fills the fields that the other side has, except for struct_size, which stays its own.
template <typename T>
Status WriteStruct(T& theirs, const T& value, const char* name) {
  const uint32_t theirs_size = theirs.struct_size;
  const size_t size = CommonSize<T>(theirs_size);
  if (size == 0) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "{} has struct_size {}: expected its sizeof, {} in this version", name,
                 theirs_size, sizeof(T));
  }
  std::memcpy(&theirs, &value, size);
  theirs.struct_size = theirs_size;
  return Status();
}

}  // namespace wasinn::core
