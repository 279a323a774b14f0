// The Open Inference Protocol over gRPC.
#pragma once

#include "remote/protocol.h"

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

}  // namespace wasinn::remote
