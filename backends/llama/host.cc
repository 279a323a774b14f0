#include "llama/host.h"

namespace wasinn::llama {

namespace {

constexpr int kPools = 4;

}  // namespace

Host::Host(const wasinn_host_services& services, const char* config)
    : HostBase(services),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      common_(library_.path()),
      spare_threads_(config_.threads),
      pooled_threads_(config_.threads, kPools) {
  Describe("llama.cpp", library_.version(), library_.path(), library_.Devices());
}

}  // namespace wasinn::llama
