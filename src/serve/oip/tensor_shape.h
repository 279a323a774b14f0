// Shapes as clients give them.
#pragma once

#include "serve/oip/inference.h"

namespace wasinn::serve {

// One more dimension of the tensor's.
Outcome<void> AddDim(InputTensor& tensor, int64_t dim);

// The product of its shape; an error where that is more than can be counted.
Outcome<uint64_t> CountElements(const InputTensor& tensor);

}  // namespace wasinn::serve
