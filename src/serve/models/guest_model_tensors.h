// The inputs and outputs of a guest that is a model: its description, clients' tensors, and its answers. Clients and
// guests may send anything.
#pragma once

#include <string>
#include <vector>

#include "engines/guest_model.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

// Checks that its description is a model's: INVALID_ARGUMENT has the reason.
Outcome<void> CheckIos(const engines::ModelIos& ios);

// The arguments of `infer` for a request. The result points to the request and to `shapes`, which this fills.
Outcome<engines::ModelRequest> ToModelRequest(const engines::ModelIos& ios, const InferRequest& request,
                                              std::vector<std::vector<uint64_t>>& shapes);

// The requested outputs of its answer, whose owner they share. RUNTIME_ERROR: it does not match the description.
Outcome<std::vector<OutputTensor>> TakeOutputs(const engines::ModelIos& ios, const std::vector<std::string>& wanted,
                                               const engines::ModelAnswer& answer);

const Datatype& DatatypeOf(const engines::ModelIo& io);

}  // namespace wasinn::serve
