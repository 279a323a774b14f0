// Clients that wait for news of gRPC's own health service (Watch). gRPC ends such a stream only with the server's last call.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

namespace wasinn::serve {

// Any thread. It outlives the server.
class GrpcWatches {
 public:
  // For grpc::ServerBuilder: it learns of each stream there.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> NewFactory();

  // From here on Sweep ends them, told or not that the server serves no more: whoever does not read would hold up its end.
  void Drain() { is_draining_.store(true, std::memory_order_release); }
  void Sweep();

 private:
  class Factory;
  class Watch;

  std::atomic<bool> is_draining_{false};
  std::mutex mutex_;  // of what follows
  std::set<grpc::experimental::ServerRpcInfo*> watches_;
};

}  // namespace wasinn::serve
