// Answers of the gRPC form, whose outputs are written from their own memory.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

// A ModelInferResponse, or one inside of a ModelStreamInferResponse: the last one to its request, or not.
enum class GrpcForm { kResponse, kStreamPart, kStreamFinal };

// Writes every output as raw bytes, and adds them to `charge`, which is kept until they are written.
Outcome<grpc::ByteBuffer> WriteResponse(InferResponse response, const std::string& id, GrpcForm form, Charge charge);

// A ModelStreamInferResponse with the error of one request.
grpc::ByteBuffer WriteError(const std::string& id, const std::string& message);

}  // namespace wasinn::serve
