#include "serve/oip/inference.h"

namespace wasinn::serve {

Outcome<void> AddDim(InputTensor& tensor, int64_t dim) {
  if (tensor.shape.size() == WASINN_MAX_RANK) {
    return Refuse("input '{}' has more than {} dimensions", tensor.name, WASINN_MAX_RANK);
  }
  if (dim < 0) return Refuse("input '{}': {} is not a dimension", tensor.name, dim);
  tensor.shape.push_back(dim);
  return {};
}

Outcome<uint64_t> CountElements(const InputTensor& tensor) {
  uint64_t elements = 1;
  for (const int64_t dim : tensor.shape) {
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dim), &elements)) {
      return Refuse("input '{}': no tensor can have its shape", tensor.name);
    }
  }
  return elements;
}

}  // namespace wasinn::serve
