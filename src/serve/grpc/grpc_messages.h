// Inference requests of the gRPC form, read from the wire: Protocol Buffers' objects would use fifty times the memory.
// And its answers, whose outputs are written from their own memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <google/protobuf/io/zero_copy_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include "serve/oip/inference.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

// The tag of a field for bytes: packed numbers and messages, too.
constexpr uint32_t BytesTag(int field) { return static_cast<uint32_t>(field) << 3 | 2; }
// Both throw Failure. A name in UTF-8, like strings of Protocol Buffers.
std::string ToText(std::span<const uint8_t> bytes);
inline void RequireWellFormed(bool is) {
  if (!is) ThrowInvalid("the message is not an inference request");
}

struct GrpcRequest {
  InferRequest infer;
  std::string id;
  bool wants_empty_final = false;  // a last response without content, which ends a text in pieces
};

// A ModelInferRequest of `size` bytes. Tensors refer to contiguous bytes of the message, which must outlive the
// request; other memory is added to `charge`. After an error, `request` has everything that was read before.
void ReadRequest(google::protobuf::io::ZeroCopyInputStream& message, int size, Charge& charge, GrpcRequest& request);

// A ModelInferResponse, or one inside of a ModelStreamInferResponse: the last one to its request, or not.
enum class GrpcForm { kResponse, kStreamPart, kStreamFinal };

// Writes every output as raw bytes, and adds them to `charge`, which is kept until they are written.
grpc::ByteBuffer WriteResponse(InferResponse response, const std::string& id, GrpcForm form, Charge charge);

// A ModelStreamInferResponse with the error of one request.
grpc::ByteBuffer WriteError(const std::string& id, const std::string& message);

}  // namespace wasinn::serve
