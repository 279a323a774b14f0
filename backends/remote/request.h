// What is asked of servers, as messages of gRPC.
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
// False: it is no such message.
bool ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message);

// Of an input as raw bytes.
uint64_t RawBytes(const Inputs::Input& input);

// An inference: its inputs' bytes lie behind the rest of the message (raw_input_contents), and are copied once.
class InferRequest {
 public:
  // `outputs`: the names of those that are wanted; none: all. The inputs stay as they are until Write.
  InferRequest(const Address& address, const Inputs& inputs, std::span<const std::string> outputs);

  // Of the whole message.
  uint64_t bytes() const { return bytes_; }
  grpc::ByteBuffer Write() const;

 private:
  const Inputs& inputs_;
  std::string head_;
  uint64_t bytes_;
};

}  // namespace wasinn::remote
