#include "llama/host.h"

#include <fmt/format.h>

#include <algorithm>

namespace wasinn::llama {

Host::Host(const wasinn_host_services& services, const char* config)
    : log_(services),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      schemas_(library_.path()),
      devices_(library_.Devices()),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "llama.cpp",
            .version = library_.version(),
            .library = library_.path().c_str(),
            .devices = devices_.c_str()},
      spare_threads_(config_.threads - 1) {}

int Host::TakeThreads(int wanted) const {
  int spare = spare_threads_.load();
  int taken = 0;
  do {
    taken = std::clamp(wanted - 1, 0, spare);
  } while (!spare_threads_.compare_exchange_weak(spare, spare - taken));
  return taken + 1;
}

void Host::WarnOfFallback(const std::string& why) const {
  if (warned_.exchange(true)) return;
  log_.Write(WASINN_LOG_WARNING, fmt::format("llama: using the CPU instead: {}", why));
}

}  // namespace wasinn::llama
