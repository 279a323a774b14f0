// How a guest describes a tensor whose element type has no number in its form of wasi-nn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/tensors.h"

namespace wasinn::bench {

struct GuestType {
  uint8_t number;  // a number of the form of wasi-nn
  std::vector<uint32_t> dims;
};

// `types` are the element types of the form of wasi-nn, in the order of their numbers.
inline GuestType DescribeForGuest(const Tensor& tensor, std::span<const Dtype> types) {
  const auto number = [types](Dtype dtype) {
    return static_cast<uint8_t>(std::ranges::find(types, dtype) - types.begin());
  };
  GuestType type{number(tensor.dtype), {tensor.dims.begin(), tensor.dims.end()}};
  if (type.number < types.size()) return type;
  switch (tensor.dtype) {
    case WASINN_DTYPE_U32:
      type.number = number(WASINN_DTYPE_I32);
      break;
    case WASINN_DTYPE_U64:
      type.number = number(WASINN_DTYPE_I64);
      break;
    case WASINN_DTYPE_BF16:
    case WASINN_DTYPE_I16:
    case WASINN_DTYPE_U16:
      // The last dimension counts bytes, two per element.
      type.number = number(WASINN_DTYPE_U8);
      if (type.dims.empty()) type.dims.push_back(1);
      type.dims.back() *= 2;
      break;
    default:
      type.number = number(WASINN_DTYPE_U8);
      break;
  }
  return type;
}

}  // namespace wasinn::bench
