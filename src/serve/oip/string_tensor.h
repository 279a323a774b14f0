// Tensors of strings: BYTES, as clients have them, and u8 with one dimension more, as models have them (WASINN_IO_STRINGS).
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
// An output of u8 becomes BYTES.
Outcome<void> ToElements(OutputTensor& output);

}  // namespace wasinn::serve
