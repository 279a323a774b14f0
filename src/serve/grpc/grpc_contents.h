// The elements of a tensor that came as fields of a message, rather than as raw bytes.
#pragma once

#include <cstdint>
#include <span>

#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

// An InferTensorContents: the field for the tensor's datatype is appended to what is its own, and added to `charge`. Throws Failure.
void ReadContents(std::span<const uint8_t> contents, Charge& charge, InputTensor& tensor);

}  // namespace wasinn::serve
