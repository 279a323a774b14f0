// Inference requests of the gRPC form, read from the wire: as messages, Protocol Buffers would make a hundred bytes of each two.
#pragma once

#include <google/protobuf/io/zero_copy_stream.h>

#include <string>

#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

struct GrpcRequest {
  InferRequest infer;
  std::string id;
  bool wants_empty_final = false;  // a response that says of a text that comes in pieces that it is over
};

// A ModelInferRequest of so many bytes. Tensors refer to the message where their bytes lie together there: it outlives the request.
// What that takes beside it is added to `charge`. Of a request that is none, `request` has what was read before.
Outcome<void> ReadRequest(google::protobuf::io::ZeroCopyInputStream& message, int size, Charge& charge,
                          GrpcRequest& request);

}  // namespace wasinn::serve
