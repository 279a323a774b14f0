// Tensors of strings: BYTES for clients, and u8 with one dimension more for models (WASINN_IO_STRINGS).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

struct StringRecords {
  std::vector<uint32_t> shape;
  std::string bytes;
};

// An input of BYTES for a model. Its memory is added to `charge`.
Outcome<StringRecords> ToRecords(const InputTensor& input, Charge& charge);
// Turns an output of u8 into BYTES.
Outcome<void> ToElements(OutputTensor& output);

}  // namespace wasinn::serve
