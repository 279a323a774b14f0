#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "bench/remote/native_client.h"

#include <inference.grpc.pb.h>
#include <inference.pb.h>

namespace wasinn::bench {
namespace {

// Fills a message, sends it, and copies its answer out.
class GrpcClient final : public NativeClient {
 public:
  GrpcClient(const std::string& server, const std::string& model, const std::vector<float>& values)
      : stub_(inference::GRPCInferenceService::NewStub(Channel(server))),
        model_(model),
        values_(values),
        out_(values.size()) {}

  void Infer() override {
    inference::ModelInferRequest request;
    request.set_model_name(model_);
    auto& input = *request.add_inputs();
    input.set_name("x");
    input.set_datatype("FP32");
    input.add_shape(static_cast<int64_t>(values_.size()));
    request.add_raw_input_contents(values_.data(), values_.size() * sizeof(float));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    inference::ModelInferResponse response;
    const grpc::Status status = stub_->ModelInfer(&context, request, &response);
    if (!status.ok()) throw std::runtime_error(status.error_message());
    const std::string& raw = response.raw_output_contents(0);
    if (raw.size() != out_.size() * sizeof(float)) throw std::runtime_error("an answer of another size");
    std::copy(raw.begin(), raw.end(), reinterpret_cast<char*>(out_.data()));
  }

 private:
  static std::shared_ptr<grpc::Channel> Channel(const std::string& server) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    return grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments);
  }

  const std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
  const std::string model_;
  const std::vector<float> values_;
  std::vector<float> out_;
};

}  // namespace

std::unique_ptr<NativeClient> ConnectGrpc(const std::string& server, const std::string& model,
                                          const std::vector<float>& values) {
  return std::make_unique<GrpcClient>(server, model, values);
}

}  // namespace wasinn::bench
