// A call of gRPC.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <memory>

#include "remote/exchange.h"

namespace wasinn::remote {

// State that the calls to one server share.
struct GrpcServer {
  grpc::GenericStub stub;
  const bool is_secure;
  // If no call was ever answered, the server may not be what the address says.
  std::atomic<bool> has_answered = false;
};

class GrpcExchange final : public Exchange, public std::enable_shared_from_this<GrpcExchange> {
 public:
  // `server` outlives this object, and `request` outlives the call.
  GrpcExchange(GrpcServer& server, const Request& request, const Headers& headers, Deadline deadline);

  // Runs on gRPC's threads.
  void Start(Done done) override;
  // gRPC reads the connection on this thread, which saves a wake-up.
  Reply Wait() override;
  // A cancel before the start is not lost: the context keeps it.
  void Cancel() override { context_.TryCancel(); }

 private:
  void End(const grpc::Status& status);
  Reply TakeReply(const grpc::Status& status);

  GrpcServer& server_;
  const Request& request_;
  grpc::ClientContext context_;
  grpc::ByteBuffer answer_;
  Done done_;
  std::shared_ptr<GrpcExchange> self_;  // while gRPC uses it
};

}  // namespace wasinn::remote
