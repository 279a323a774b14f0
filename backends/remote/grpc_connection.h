// A server that speaks gRPC.
#ifndef WASINN_BACKENDS_REMOTE_GRPC_CONNECTION_H_
#define WASINN_BACKENDS_REMOTE_GRPC_CONNECTION_H_

#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>

#include "remote/config.h"
#include "remote/connection.h"

namespace wasinn::remote {

class GrpcConnection final : public Connection {
 public:
  GrpcConnection(std::string endpoint, const ConnectionConfig& config);

  std::shared_ptr<Exchange> NewExchange(const Request& request, const Headers& headers, Deadline deadline) override;

 private:
  grpc::GenericStub stub_;
};

}  // namespace wasinn::remote

#endif  // WASINN_BACKENDS_REMOTE_GRPC_CONNECTION_H_
