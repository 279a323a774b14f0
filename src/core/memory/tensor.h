// Descriptions of tensors and how a guest's description matches a model's signature. No bytes live here.
#pragma once

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

  // Else all of the array would be written where one is value-initialized.
  TensorDesc() {}  // NOLINT(modernize-use-equals-default)
  // Copies no more than there is: the array is large, and a description is copied at each inference.
  TensorDesc(const TensorDesc& other) : dtype(other.dtype), rank(other.rank) { std::copy_n(other.dims, rank, dims); }
  TensorDesc& operator=(const TensorDesc& other) {
    dtype = other.dtype;
    rank = other.rank;
    if (this != &other) std::copy_n(other.dims, rank, dims);
    return *this;
  }

  std::span<const int64_t> shape() const { return {dims, rank}; }
};

// Product of the shape times the element size; nothing if it does not fit in 63 bits or a dimension is negative.
std::optional<uint64_t> ByteSize(uint32_t dtype, std::span<const int64_t> shape);

// Of a shape with a zero, what its other dimensions stand for, no byte of which is there; UINT64_MAX where that does not
// fit. 0: it has no zero.
uint64_t MissingBytes(uint32_t dtype, std::span<const int64_t> shape);

// Whether the signature fixes its type and shape; and the bytes of one of those, if they fit in 63 bits.
bool IsStatic(const wasinn_io& io);
std::optional<uint64_t> StaticSize(const wasinn_io& io);

// Decides whether a tensor that a guest describes may become the input `io`, by the rules of the element type table:
//  - the dtype is the model's, or the one that the guest's ABI uses in its place: u8 for i8 and bool, i32 for u32, i64
//    for u64, and u8 with the last dimension doubled for i16, u16 and bf16;
//  - the shape is the model's, where unknown dimensions and ranks match anything and [1] matches a scalar;
//  - an opaque input takes u8 of any shape.
// Returns the tensor as the framework shall see it. `bytes` is the length of the guest's data and must fit exactly.
Result<TensorDesc> MatchInput(const wasinn_io& io, const TensorDesc& given, uint64_t bytes);

// The inverse: how an ABI that lacks the type of a tensor shows it. `has` tells which types it has.
TensorDesc ShowAs(const TensorDesc& tensor, bool (*has)(uint32_t dtype));

// "f32 [1, ?, 224]" for messages; rank -1 is "[...]".
std::string Describe(uint32_t dtype, int32_t rank, const int64_t* dims);
std::string Describe(const wasinn_io& io);
std::string Describe(const TensorDesc& tensor);

}  // namespace wasinn::core
