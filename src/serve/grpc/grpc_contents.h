// The elements of a tensor that came as fields of a message, and not as raw bytes.
#pragma once

#include <cstdint>
#include <span>

#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

// Appends the field for the tensor's datatype to its own bytes, and adds it to `charge`. Throws Failure.
void ReadContents(std::span<const uint8_t> contents, Charge& charge, InputTensor& tensor);

}  // namespace wasinn::serve
