#include "backends/remote_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <inference.pb.h>
#include "remote/protocol.h"

namespace wasinn::testing {

namespace {

grpc::ByteBuffer Metadata() {
  inference::ModelMetadataResponse metadata;
  metadata.set_name("m");
  for (auto* tensor : {metadata.add_inputs(), metadata.add_outputs()}) {
    tensor->set_name("x");
    tensor->set_datatype("FP32");
    tensor->add_shape(1);
  }
  return remote::ToBuffer(metadata);
}

grpc::ByteBuffer Echo(const grpc::ByteBuffer& request) {
  inference::ModelInferRequest asked;
  inference::ModelInferResponse answer;
  if (!remote::ParseMessage(request, &asked)) return {};
  auto& output = *answer.add_outputs();
  output.set_name("x");
  output.set_datatype("FP32");
  output.add_shape(1);
  answer.add_raw_output_contents(asked.raw_input_contents(0));
  return remote::ToBuffer(answer);
}

}  // namespace

// Owned by itself, until gRPC has done with it.
class InferenceServer::Request final : public grpc::ServerGenericBidiReactor {
 public:
  Request(InferenceServer& server, const std::string& method)
      : server_(server), is_inference_(method.ends_with("/ModelInfer")) {
    StartRead(&message_);
  }
  void Answer() {
    answer_ = is_inference_ ? Echo(message_) : Metadata();
    StartWriteAndFinish(&answer_, {}, grpc::Status::OK);
  }
  void Refuse() { Finish({grpc::CANCELLED, "the client has gone"}); }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return Refuse();
    is_inference_ || !server_.describes_ ? server_.Hold(*this) : Answer();
  }
  void OnCancel() override { server_.LetGo(*this); }
  void OnDone() override { delete this; }

  InferenceServer& server_;
  const bool is_inference_;
  grpc::ByteBuffer message_, answer_;
};

grpc::ServerGenericBidiReactor* InferenceServer::Service::CreateReactor(grpc::GenericCallbackServerContext* context) {
  return new Request(server_, context->method());
}

InferenceServer::InferenceServer(size_t held, bool describes) : held_(held), describes_(describes) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.RegisterCallbackGenericService(&service_);
  server_ = builder.BuildAndStart();
}

InferenceServer::~InferenceServer() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

size_t InferenceServer::holding() const {
  const std::lock_guard lock(mutex_);
  return holding_.size();
}

void InferenceServer::Hold(Request& request) {
  std::vector<Request*> ready;
  {
    const std::lock_guard lock(mutex_);
    holding_.push_back(&request);
    answers_ = answers_ || holding_.size() >= held_;
    if (answers_) ready.swap(holding_);
  }
  for (Request* one : ready) one->Answer();
}

void InferenceServer::LetGo(Request& request) {
  {
    const std::lock_guard lock(mutex_);
    if (std::erase(holding_, &request) == 0) return;
  }
  request.Refuse();
}

}  // namespace wasinn::testing
