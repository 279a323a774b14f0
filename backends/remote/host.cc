#include "remote/host.h"

#include <grpcpp/grpcpp.h>

#include "common/library.h"
#include "remote/config.h"

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

}  // namespace wasinn::remote
