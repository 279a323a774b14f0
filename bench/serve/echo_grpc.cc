// serve-echo-grpc: the best that gRPC's callback API can do. It answers each ModelInfer with --answer-bytes bytes,
// whatever they mean.
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include <inference.grpc.pb.h>

namespace {

using Service =
    inference::GRPCInferenceService::WithRawCallbackMethod_ModelInfer<inference::GRPCInferenceService::Service>;

class Echo final : public Service {
 public:
  explicit Echo(size_t bytes) : bytes_(bytes, ' ') {}

  grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* context, const grpc::ByteBuffer*,
                                       grpc::ByteBuffer* response) override {
    const grpc::Slice slice(bytes_);
    *response = grpc::ByteBuffer(&slice, 1);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  const std::string bytes_;
};

int Main(int argc, char** argv) {
  CLI::App app("Answer calls of gRPC with spaces");
  size_t bytes = 100;
  app.add_option("--answer-bytes", bytes, "Bytes of a message; default 100");
  CLI11_PARSE(app, argc, argv);
  Echo echo(bytes);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&echo);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) throw std::runtime_error("cannot start");
  std::printf("%d\n", port);
  std::fflush(stdout);
  server->Wait();
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return Main(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "serve-echo-grpc: %s\n", error.what());
  return 1;
}
