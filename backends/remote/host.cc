#include "remote/host.h"

#include <grpcpp/grpcpp.h>

#include "common/library.h"
#include "remote/config.h"
#include "remote/grpc_connection.h"
#include "remote/http_connection.h"

namespace wasinn::remote {

Host::Host(const wasinn_host_services& services, const char* config)
    : services_(services),
      log_(services),
      config_(config == nullptr ? "{}" : config),
      version_(grpc::Version()),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "gRPC",
            .version = version_.c_str(),
            .library = "",
            .devices = "servers"} {
  backend::TellFramework("GRPC_VERBOSITY", "NONE");                    // gRPC logs to stderr
  ModelConfig::Parse(config_.c_str(), "{}", Transport::kGrpc, false);  // report errors now
}

std::shared_ptr<Connection> Connections::To(const std::string& endpoint, const ConnectionConfig& config) {
  const std::lock_guard lock(mutex_);
  std::erase_if(connections_, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<Connection>& known = connections_[{endpoint, config}];
  std::shared_ptr<Connection> connection = known.lock();
  if (connection == nullptr) {
    if (config.transport == Transport::kGrpc) {
      connection = MakeGrpcConnection(endpoint, config);
    } else {
      if (!loop_) loop_.emplace();
      connection = MakeHttpConnection(*loop_, endpoint, config);
    }
    known = connection;
  }
  return connection;
}

}  // namespace wasinn::remote
