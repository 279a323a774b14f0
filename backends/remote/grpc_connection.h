// A server that speaks gRPC.
#pragma once

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
