// Clients that watch gRPC's own health service (Watch). gRPC only ends such a stream with the server's last call.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

namespace wasinn::serve {

// Thread-safe. It outlives the server.
class GrpcWatches {
 public:
  // For grpc::ServerBuilder, which reports each stream to it.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> NewFactory();

  // From here on Sweep ends them, even unread: clients that do not read would hold up the server's end.
  void Drain() { is_draining_.store(true, std::memory_order_release); }
  void Sweep();

 private:
  class Factory;
  class Watch;

  std::atomic<bool> is_draining_{false};
  std::mutex mutex_;  // guards the members below
  std::set<grpc::experimental::ServerRpcInfo*> watches_;
};

}  // namespace wasinn::serve
