// Echo's checks of a compute's inputs.
#pragma once

#include <span>

#include "model.h"
#include "values.h"

namespace wasinn::echo {

// Appends to the file that the model names: "x[2,3] y[] zeros".
void Record(const wasinn_backend_graph& model, std::span<const Buffer> inputs);
// Whether one of them has such a byte; a negative one is in none.
bool HasByte(std::span<const Buffer> inputs, int byte);

}  // namespace wasinn::echo
