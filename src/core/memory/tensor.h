// Descriptions of tensors, and how a guest's description matches a model's signature. No bytes are here.
#pragma once

#include <wasinn/backend.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/status.h"

namespace wasinn::core {

// A dtype and a shape, held inline: describing a tensor allocates nothing.
struct TensorDesc {
  uint32_t dtype = WASINN_DTYPE_UNKNOWN;
  uint32_t rank = 0;
  int64_t dims[WASINN_MAX_RANK];

  // Else value initialization would write the whole array.
  TensorDesc() {}  // NOLINT(modernize-use-equals-default)
  // Copies only the dimensions that exist: the array is large, and each inference copies a description.
  TensorDesc(const TensorDesc& other) : dtype(other.dtype), rank(other.rank) { std::copy_n(other.dims, rank, dims); }
  TensorDesc& operator=(const TensorDesc& other) {
    dtype = other.dtype;
    rank = other.rank;
    if (this != &other) std::copy_n(other.dims, rank, dims);
    return *this;
  }

  std::span<const int64_t> shape() const { return {dims, rank}; }
};

// The description of a view, whose rank has been checked.
inline TensorDesc DescOf(const wasinn_tensor& tensor) {
  TensorDesc desc;
  desc.dtype = tensor.dtype;
  desc.rank = tensor.rank;
  std::copy_n(tensor.dims, tensor.rank, desc.dims);
  return desc;
}

// A view of bytes for a backend to read.
inline wasinn_tensor ViewOf(const TensorDesc& tensor, std::span<const uint8_t> bytes) {
  return {.struct_size = sizeof(wasinn_tensor),
          .dtype = tensor.dtype,
          .rank = tensor.rank,
          .dims = tensor.dims,
          // the backend must not write what the guest must not
          .data = const_cast<uint8_t*>(bytes.data()),
          .bytes = bytes.size(),
          .owner = nullptr,
          .release = nullptr};
}

// Product of the shape times the element size; no value if it does not fit in 63 bits or a dimension is negative.
std::optional<uint64_t> ByteSize(uint32_t dtype, std::span<const int64_t> shape);

// For a shape with a zero: the bytes that its other dimensions describe, none of which exist; UINT64_MAX if that does
// not fit. 0: it has no zero.
uint64_t MissingBytes(uint32_t dtype, std::span<const int64_t> shape);

// Whether the signature fixes type and shape; and then the bytes, if they fit in 63 bits.
bool IsStatic(const wasinn_io& io);
std::optional<uint64_t> StaticSize(const wasinn_io& io);

// Decides whether a tensor that a guest describes may become the input `io`, by the rules of the element type table:
//  - the dtype is the model's, or the one that the guest's ABI uses in its place: u8 for i8 and bool, i32 for u32, i64
//    for u64, and u8 with the last dimension doubled for i16, u16 and bf16;
//  - the shape is the model's, where unknown dimensions and ranks match anything and [1] matches a scalar;
//  - an opaque input takes u8 of any shape.
// Returns the tensor as the framework shall see it. `bytes` is the length of the guest's data and must fit exactly.
Result<TensorDesc> MatchInput(const wasinn_io& io, const TensorDesc& given, uint64_t bytes);

// The inverse: how an ABI without the type of a tensor shows it. `has` reports the ABI's types.
TensorDesc ShowAs(const TensorDesc& tensor, bool (*has)(uint32_t dtype));

// "f32 [1, ?, 224]" for messages; rank -1 is "[...]".
std::string Describe(uint32_t dtype, int32_t rank, const int64_t* dims);
std::string Describe(const wasinn_io& io);
std::string Describe(const TensorDesc& tensor);

}  // namespace wasinn::core
