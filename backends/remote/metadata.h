// What a server tells of a model.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <vector>

#include "remote/answer.h"

namespace wasinn::remote {

// Tensors have a name, a datatype and dims alone.
struct Metadata {
  std::string platform;
  std::vector<AnsweredTensor> inputs, outputs;
};

// Read by hand: Protocol Buffers' own parser writes to stderr where a text is not UTF-8. WASINN_ERROR_RUNTIME for what is
// no message.
Metadata ReadMetadata(const grpc::ByteBuffer& message);

}  // namespace wasinn::remote
