#include "tflite/host.h"

#include <fmt/format.h>

namespace wasinn::tflite {

namespace {

constexpr int kPools = 16, kIdlePools = 4;
constexpr int64_t kMostIdle = 128 << 20;

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
      fallback_(log_),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      devices_(DevicesOf(config_)),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "TensorFlow Lite",
            .version = library_.version(),
            .library = library_.path().c_str(),
            .devices = devices_.c_str()},
      spare_threads_(config_.threads),
      pooled_threads_(config_.threads, kPools),
      idle_threads_(config_.threads, kIdlePools),
      idle_{.struct_size = sizeof(wasinn_host_services),
            .host = this,
            .log = nullptr,
            .threads = 1,
            .reserve = ReserveIdle} {}

uint32_t Host::ReserveIdle(void* self, void* /*account*/, int64_t bytes) {
  std::atomic<int64_t>& held = static_cast<Host*>(self)->idle_bytes_;
  int64_t before = held;
  do {
    if (bytes > kMostIdle - before) return WASINN_TOO_LARGE;
  } while (!held.compare_exchange_weak(before, before + bytes));
  return WASINN_OK;
}

}  // namespace wasinn::tflite
