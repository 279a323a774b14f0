// Element types: their sizes, and a framework's types with wasinn's. Sizes of tensors, and arithmetic on sizes that a
// model declares.
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

// The bytes of a tensor; UINT64_MAX if they are too many to count, or a dimension is unknown.
constexpr uint64_t TensorBytes(std::span<const int64_t> dims, size_t element_size) {
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  uint64_t bytes = element_size;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return UINT64_MAX;
  }
  return bytes;
}

constexpr uint64_t AddSat(uint64_t one, uint64_t other) {
  uint64_t sum = 0;
  return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

// An overflow stays one, even times zero: a framework that multiplies the same dimensions fails before.
constexpr uint64_t MulSat(uint64_t so_far, uint64_t factor) {
  uint64_t product = 0;
  const bool too_many = so_far == UINT64_MAX || __builtin_mul_overflow(so_far, factor, &product);
  return too_many ? UINT64_MAX : product;
}

struct TypeRow {
  int type;            // the framework's number: an int, since its headers may be older than its library
  wasinn_dtype dtype;  // WASINN_DTYPE_UNKNOWN: wasinn does not have it
  const char* name;    // the framework's own name
};

// NULL: there is none.
constexpr const TypeRow* FindType(std::span<const TypeRow> rows, int type) {
  const auto found = std::ranges::find(rows, type, &TypeRow::type);
  return found == rows.end() ? nullptr : &*found;
}
constexpr wasinn_dtype DtypeOf(std::span<const TypeRow> rows, int type) {
  const TypeRow* row = FindType(rows, type);
  return row == nullptr ? WASINN_DTYPE_UNKNOWN : row->dtype;
}
constexpr const char* NameOf(std::span<const TypeRow> rows, int type) {
  const TypeRow* row = FindType(rows, type);
  return row == nullptr ? "unknown" : row->name;
}

}  // namespace wasinn::backend
