#include "onnx/host.h"

#include "onnx/devices.h"
#include "onnx/session_options.h"

namespace wasinn::onnx {

Host::Host(const wasinn_host_services& services, const char* config)
    : services_(services),
      log_(services),
      fallback_(log_),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      environment_(library_, log_, config_.threads, config_.spinning),
      devices_(DevicesText(AvailableProviders(library_))),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "ONNX Runtime",
            .version = library_.version().c_str(),
            .library = library_.path().c_str(),
            .devices = devices_.c_str()},
      cache_(config_.cache_bytes) {}

}  // namespace wasinn::onnx
