#include "remote/connections.h"

#include "remote/grpc_connection.h"
#include "remote/http_connection.h"

namespace wasinn::remote {

std::shared_ptr<Connection> Connections::To(const std::string& endpoint, const ConnectionConfig& config) {
  const std::lock_guard lock(mutex_);
  std::erase_if(connections_, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<Connection>& known = connections_[{endpoint, config}];
  std::shared_ptr<Connection> connection = known.lock();
  if (connection == nullptr) {
    if (config.transport == Transport::kGrpc) {
      connection = std::make_shared<GrpcConnection>(endpoint, config);
    } else {
      if (!loop_) loop_.emplace();
      connection = std::make_shared<HttpConnection>(*loop_, endpoint, config);
    }
    known = connection;
  }
  return connection;
}

}  // namespace wasinn::remote
