// Sizes of tensors, and arithmetic on sizes that a model declares.
#pragma once

#include <wasinn/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

namespace wasinn::base {

// Bytes of one element; 0 for WASINN_DTYPE_UNKNOWN and numbers that are no dtype.
constexpr size_t ElementSize(uint32_t dtype) {
  constexpr uint8_t kSizes[] = {0, 2, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1};  // by wasinn_dtype
  static_assert(std::size(kSizes) == WASINN_DTYPE_BOOL + 1);
  return dtype < std::size(kSizes) ? kSizes[dtype] : 0;
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

// The size of aligned memory for a tensor, with the tail behind it.
constexpr uint64_t RoundUp(uint64_t bytes) {
  return (bytes + WASINN_TENSOR_TAIL + WASINN_TENSOR_ALIGNMENT - 1) / WASINN_TENSOR_ALIGNMENT * WASINN_TENSOR_ALIGNMENT;
}
// The same; throws if that is no valid size.
constexpr size_t PaddedSize(size_t bytes) {
  if (bytes > PTRDIFF_MAX - WASINN_TENSOR_TAIL - WASINN_TENSOR_ALIGNMENT) throw std::bad_alloc();
  return RoundUp(bytes);
}

}  // namespace wasinn::base
