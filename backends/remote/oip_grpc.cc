#include "remote/oip_grpc.h"

#include <string>
#include <utility>

#include <inference.pb.h>
#include "remote/request.h"

namespace wasinn::remote {

namespace {

std::string Method(const char* name) { return std::string("/inference.GRPCInferenceService/") + name; }

template <typename Message>
Request About(const Address& address, const char* method) {
  Message message;
  message.set_name(address.model);
  message.set_version(address.version);
  return {.path = Method(method), .body = ToBuffer(message)};
}

class GrpcInference final : public Inference {
 public:
  GrpcInference(const Address& address, const Inputs& inputs, const Outputs& outputs)
      : request_(address, inputs, outputs.WantedNames()) {}

  uint64_t bytes() const override { return request_.bytes(); }
  Request Write() const override { return {.path = Method("ModelInfer"), .body = request_.Write()}; }

 private:
  const InferRequest request_;
};

}  // namespace

Metadata OipGrpc::AskMetadata(const Ask& ask) {
  return ReadMetadata(ask(About<inference::ModelMetadataRequest>(address_, "ModelMetadata")).message);
}

std::unique_ptr<const Inference> OipGrpc::Infer(const GuestSettings* /*settings*/, const Inputs& inputs,
                                                const Outputs& outputs) const {
  return std::make_unique<const GrpcInference>(address_, inputs, outputs);
}

std::vector<AnsweredTensor> OipGrpc::ReadAnswer(const Reply& reply, size_t most) const {
  return remote::ReadAnswer(reply.message, most);
}

Request OipGrpc::AskReady() const { return About<inference::ModelReadyRequest>(address_, "ModelReady"); }

bool OipGrpc::IsReady(const Reply& reply) const {
  inference::ModelReadyResponse response;
  return ParseMessage(reply.message, &response) && response.ready();
}

}  // namespace wasinn::remote
