#include "serve/grpc/grpc_watches.h"

#include <string_view>

namespace wasinn::serve {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::ServerRpcInfo;

class GrpcWatches::Watch : public Interceptor {
 public:
  Watch(GrpcWatches& all, ServerRpcInfo* of) : all_(all), of_(of) {}
  ~Watch() override { Leave(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // gRPC creates this before it can be cancelled, and keeps it longer: it can be cancelled after its first step.
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) Join();
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_CLOSE)) Leave();
    methods->Proceed();
  }

 private:
  void Join() {
    const std::lock_guard lock(all_.mutex_);
    all_.watches_.insert(of_);
  }
  void Leave() {
    const std::lock_guard lock(all_.mutex_);
    all_.watches_.erase(of_);
  }

  GrpcWatches& all_;
  ServerRpcInfo* const of_;
};

class GrpcWatches::Factory : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(GrpcWatches& all) : all_(all) {}
  Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    const char* const method = info->method();
    return method != nullptr && std::string_view(method) == "/grpc.health.v1.Health/Watch" ? new Watch(all_, info)
                                                                                           : nullptr;
  }

 private:
  GrpcWatches& all_;
};

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> GrpcWatches::NewFactory() {
  return std::make_unique<Factory>(*this);
}

void GrpcWatches::Sweep() {
  if (!is_draining_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  for (ServerRpcInfo* const watch : watches_)
    watch->server_context()->TryCancel();  // it notifies gRPC's threads: this one has the lock
}

}  // namespace wasinn::serve
