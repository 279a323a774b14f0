// Servers of gRPC whose answers are larger than they may be: what they take here does not depend on them.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "remote/config.h"
#include "remote/exchange.h"
#include "support/own_process.h"
#include "support/test.h"

namespace wasinn::remote {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

// Answers each request with so many bytes of 0, of which few are in memory.
class Generous final : public grpc::CallbackGenericService {
 public:
  explicit Generous(size_t megabytes, grpc_compression_algorithm compression = GRPC_COMPRESS_NONE)
      : answer_(megabytes, grpc::Slice(std::string(kMegabyte, '\0'))), compression_(compression) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~Generous() override {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  class Answer final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Answer(const std::vector<grpc::Slice>& slices) : message_(slices.data(), slices.size()) {
      StartWriteAndFinish(&message_, {}, grpc::Status::OK);
    }

   private:
    void OnDone() override { delete this; }
    const grpc::ByteBuffer message_;
  };

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    context->set_compression_algorithm(compression_);
    return new Answer(answer_);
  }

  const std::vector<grpc::Slice> answer_;
  const grpc_compression_algorithm compression_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// AddressSanitizer keeps what was freed.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kMaxGrowth = 900 * kMegabyte;
#else
constexpr size_t kMaxGrowth = 160 * kMegabyte;
#endif

Reply AskOf(const Generous& server) {
  ConnectionConfig config;
  config.max_message_bytes = 4 * kMegabyte;
  config.connect_timeout = kPatience;
  const auto connection = MakeGrpcConnection(server.endpoint(), config);
  const grpc::Slice nothing;
  const Request request{.path = "/inference.GRPCInferenceService/ModelInfer", .body = {&nothing, 1}};
  return connection->NewExchange(request, {}, std::nullopt)->Wait();
}

TEST(RemoteGrpc, AcceptsAnAnswerWithinTheLimit) {
  const Generous server(3);
  const Reply reply = AskOf(server);
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_EQ(reply.message.Length(), 3 * kMegabyte);
}

TEST(RemoteGrpc, CompressedAnswersAreNotExpanded) {
  const Generous server(256, GRPC_COMPRESS_GZIP);
  const wasinn::testing::PeakMemory memory;
  const Reply reply = AskOf(server);
  EXPECT_EQ(reply.status.error_code(), grpc::UNIMPLEMENTED);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("ompression algorithm 'gzip' is disabled"));
  EXPECT_LT(memory.grown(), kMaxGrowth);
}

TEST(RemoteGrpc, AnswersTogetherHaveALimit) {
  const Generous server(1024);
  const wasinn::testing::PeakMemory memory;
  const Reply reply = AskOf(server);
  EXPECT_EQ(reply.status.error_code(), grpc::UNAVAILABLE) << "others' answers may have taken the memory";
  EXPECT_THAT(reply.status.error_message(), HasSubstr("larger than max_message_bytes allows"));
  EXPECT_TRUE(reply.was_answer && reply.was_sent) << "the server is not ill";
  EXPECT_LT(memory.grown(), kMaxGrowth);
}

}  // namespace
}  // namespace wasinn::remote
