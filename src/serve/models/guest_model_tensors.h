// What a guest that is a model takes and gives: as it describes it, as clients give it, and as it answers. Clients and guests may say
// anything.
#pragma once

#include <string>
#include <vector>

#include "engines/guest_model.h"
#include "serve/oip/inference.h"

namespace wasinn::serve {

// Whether what it describes is a model's: INVALID_ARGUMENT says what is wrong.
Outcome<void> CheckIos(const engines::ModelIos& ios);

// What `infer` gets of a request, to which the result points; so do `shapes`, which the callee fills.
Outcome<engines::ModelRequest> ToModelRequest(const engines::ModelIos& ios, const InferRequest& request,
                                              std::vector<std::vector<uint64_t>>& shapes);

// Of what it answered, those that were asked for. RUNTIME_ERROR: it is not what it described. The result shares the answer's owner.
Outcome<std::vector<OutputTensor>> TakeOutputs(const engines::ModelIos& ios, const std::vector<std::string>& wanted,
                                               const engines::ModelAnswer& answer);

const Datatype& DatatypeOf(const engines::ModelIo& io);

}  // namespace wasinn::serve
