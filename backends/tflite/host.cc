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
    : HostBase(services),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      spare_threads_(config_.threads),
      pooled_threads_(config_.threads, kPools),
      idle_threads_(config_.threads, kIdlePools),
      idle_{.struct_size = sizeof(wasinn_host_services),
            .host = this,
            .log = nullptr,
            .threads = 1,
            .reserve = ReserveIdle} {
  Describe("TensorFlow Lite", library_.version(), library_.path(), DevicesOf(config_));
}

uint32_t Host::ReserveIdle(void* self, void* /*account*/, int64_t bytes) {
  std::atomic<int64_t>& held = static_cast<Host*>(self)->idle_bytes_;
  int64_t before = held;
  do {
    if (bytes > kMostIdle - before) return WASINN_ERROR_TOO_LARGE;
  } while (!held.compare_exchange_weak(before, before + bytes));
  return WASINN_OK;
}

}  // namespace wasinn::tflite
