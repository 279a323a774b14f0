#include "tflite/host.h"

#include <fmt/format.h>

#include <algorithm>

namespace wasinn::tflite {

namespace {

std::string DevicesOf(const BackendConfig& config) {
  std::string devices = "cpu";
  if (!config.gpu_delegate.empty()) devices += fmt::format(", gpu ({})", config.gpu_delegate);
  if (!config.tpu_delegate.empty()) devices += fmt::format(", tpu ({})", config.tpu_delegate);
  return devices;
}

}  // namespace

Host::Host(const wasinn_host_services& services, const char* config)
    : log_(services),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      devices_(DevicesOf(config_)),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "TensorFlow Lite",
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
  log_.Write(WASINN_LOG_WARNING, fmt::format("tflite: using the CPU instead: {}", why));
}

}  // namespace wasinn::tflite
