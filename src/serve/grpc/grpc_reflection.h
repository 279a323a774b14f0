// gRPC's server reflection (v1 and v1alpha), by which clients such as grpcurl find the callable services. gRPC's own
// has a thread for each open stream.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include "serve/grpc/grpc_calls.h"
#include "serve/tenants/gate.h"

namespace wasinn::serve {

// Gets the calls that no other service has. Both arguments outlive it.
class GrpcReflection final : public grpc::CallbackGenericService {
 public:
  GrpcReflection(const Gate& gate, GrpcCalls& calls) : gate_(gate), calls_(calls) {}

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;

  const Gate& gate_;
  GrpcCalls& calls_;
};

}  // namespace wasinn::serve
