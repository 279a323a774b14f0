// The Open Inference Protocol over gRPC.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <vector>

#include "remote/address.h"
#include "remote/protocol.h"
#include "remote/tensors.h"

namespace wasinn::remote {

class OipGrpc final : public Protocol {
 public:
  explicit OipGrpc(Address address) : address_(std::move(address)) {}

  Metadata AskMetadata(const Ask& ask) override;
  std::unique_ptr<const Inference> Infer(const GuestSettings* settings, const Inputs& inputs,
                                         const Outputs& outputs) const override;
  std::vector<AnsweredTensor> ReadAnswer(const Reply& reply, size_t most) const override;
  Request AskReady() const override;
  bool IsReady(const Reply& reply) const override;

 private:
  const Address address_;
};

// Messages of gRPC.
grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message);
// Returns false if it is not such a message.
bool ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message);

// The size of an input as raw bytes.
uint64_t RawBytes(const Inputs::Input& input);

}  // namespace wasinn::remote
