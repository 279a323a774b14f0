#include "llama/host.h"

namespace wasinn::llama {

namespace {

constexpr int kPools = 4;

}  // namespace

Host::Host(const wasinn_host_services& services, const char* config)
    : services_(services),
      log_(services),
      fallback_(log_),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      common_(library_.path()),
      devices_(library_.Devices()),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "llama.cpp",
            .version = library_.version(),
            .library = library_.path().c_str(),
            .devices = devices_.c_str()},
      spare_threads_(config_.threads),
      pooled_threads_(config_.threads, kPools) {}

}  // namespace wasinn::llama
