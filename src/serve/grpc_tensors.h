// Inferences of the gRPC form: its messages as what everything else here takes and gives.
#pragma once

#include <inference.pb.h>
#include "serve/inference.h"

namespace wasinn::serve {

// Tensors may refer to `message`, which outlives the request.
Outcome<InferRequest> ReadRequest(const inference::ModelInferRequest& message);

// Every output as raw bytes.
void WriteResponse(const InferResponse& response, const std::string& id, inference::ModelInferResponse& message);

}  // namespace wasinn::serve
