#include "tflite/host.h"

#include <fmt/format.h>

namespace wasinn::tflite {

namespace {

constexpr int kPools = 16;

std::string DevicesOf(const BackendConfig& config) {
  std::string devices = "cpu";
  if (!config.gpu_delegate.empty()) devices += fmt::format(", gpu ({})", config.gpu_delegate);
  if (!config.tpu_delegate.empty()) devices += fmt::format(", tpu ({})", config.tpu_delegate);
  return devices;
}

}  // namespace

Host::Host(const wasinn_host_services& services, const char* config)
    : services_(services),
      log_(services),
      fallback_(log_, "tflite"),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      devices_(DevicesOf(config_)),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "TensorFlow Lite",
            .version = library_.version(),
            .library = library_.path().c_str(),
            .devices = devices_.c_str()},
      spare_threads_(config_.threads),
      pooled_threads_(config_.threads, kPools) {}

}  // namespace wasinn::tflite
