#include "llama/host.h"

#include <algorithm>

namespace wasinn::llama {

namespace {

// Sleeping threads for as many contexts that had the whole budget; a thread that the system does not give ends the OS
// process, so that there must be a bound.
constexpr int kPools = 4, kMostPooled = 1024;

int PooledThreads(int budget) { return std::min(1 + kPools * (std::min(budget, kMostPooled) - 1), kMostPooled); }

}  // namespace

Host::Host(const wasinn_host_services& services, const char* config)
    : services_(services),
      log_(services),
      fallback_(log_, "llama"),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      schemas_(library_.path()),
      devices_(library_.Devices()),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "llama.cpp",
            .version = library_.version(),
            .library = library_.path().c_str(),
            .devices = devices_.c_str()},
      spare_threads_(config_.threads),
      pooled_threads_(PooledThreads(config_.threads)) {}

}  // namespace wasinn::llama
