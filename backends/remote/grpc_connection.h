// A server that speaks gRPC.
#ifndef WASINN_BACKENDS_REMOTE_GRPC_CONNECTION_H_
#define WASINN_BACKENDS_REMOTE_GRPC_CONNECTION_H_

#include <memory>
#include <string>

#include "remote/config.h"
#include "remote/connection.h"
#include "remote/grpc_exchange.h"

namespace wasinn::remote {

class GrpcConnection final : public Connection {
 public:
  GrpcConnection(std::string endpoint, const ConnectionConfig& config);

  std::shared_ptr<Exchange> NewExchange(const Request& request, const Headers& headers, Deadline deadline) override;

 private:
  GrpcServer server_;
};

}  // namespace wasinn::remote

#endif  // WASINN_BACKENDS_REMOTE_GRPC_CONNECTION_H_
