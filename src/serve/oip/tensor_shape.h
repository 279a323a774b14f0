// Shapes in clients' requests.
#pragma once

#include "serve/oip/inference.h"

namespace wasinn::serve {

// Adds a dimension to the tensor.
Outcome<void> AddDim(InputTensor& tensor, int64_t dim);

// The product of its shape; an error if that overflows.
Outcome<uint64_t> CountElements(const InputTensor& tensor);

}  // namespace wasinn::serve
