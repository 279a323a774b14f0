// Sizes of wasinn's element types, and of tensors.
#pragma once

#include <wasinn/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace wasinn::backend {

// Bytes of one element; 0 for WASINN_DTYPE_UNKNOWN.
constexpr size_t ElementSize(uint32_t dtype) {
  switch (dtype) {
    case WASINN_DTYPE_U8:
    case WASINN_DTYPE_I8:
    case WASINN_DTYPE_BOOL:
      return 1;
    case WASINN_DTYPE_F16:
    case WASINN_DTYPE_BF16:
    case WASINN_DTYPE_U16:
    case WASINN_DTYPE_I16:
      return 2;
    case WASINN_DTYPE_F32:
    case WASINN_DTYPE_U32:
    case WASINN_DTYPE_I32:
      return 4;
    case WASINN_DTYPE_F64:
    case WASINN_DTYPE_U64:
    case WASINN_DTYPE_I64:
      return 8;
    default:
      return 0;
  }
}

// The bytes of a tensor; UINT64_MAX where they are too many to count, or a dimension is unknown.
constexpr uint64_t TensorBytes(std::span<const int64_t> dims, size_t element_size) {
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  uint64_t bytes = element_size;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return UINT64_MAX;
  }
  return bytes;
}

}  // namespace wasinn::backend
