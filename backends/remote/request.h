// Requests as messages of gRPC.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <wasinn/backend.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "remote/address.h"
#include "remote/inputs.h"

namespace wasinn::remote {

grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message);
// Returns false if it is not such a message.
bool ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message);

// The size of an input as raw bytes.
uint64_t RawBytes(const Inputs::Input& input);

// An inference whose inputs' bytes follow the rest of the message (raw_input_contents), and are copied once.
class InferRequest {
 public:
  // `outputs`: the names of the wanted ones; empty: all. The inputs must not change until Write.
  InferRequest(const Address& address, const Inputs& inputs, std::span<const std::string> outputs);

  // The size of the whole message.
  uint64_t bytes() const { return bytes_; }
  grpc::ByteBuffer Write() const;

 private:
  const Inputs& inputs_;
  std::string head_;
  uint64_t bytes_;
};

}  // namespace wasinn::remote
