// A server's metadata of a model.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <vector>

#include "remote/answer.h"

namespace wasinn::remote {

// Only the tensors' names, datatypes and dims are set.
struct Metadata {
  std::string platform;
  std::vector<AnsweredTensor> inputs, outputs;
};

// Not parsed by Protocol Buffers, whose parser writes to stderr if a text is not UTF-8. Throws WASINN_ERROR_RUNTIME if
// the message is invalid.
Metadata ReadMetadata(const grpc::ByteBuffer& message);

}  // namespace wasinn::remote
