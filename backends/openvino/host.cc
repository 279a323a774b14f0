#include "openvino/host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "openvino/core.h"
#include "openvino/device.h"

namespace wasinn::openvino {

namespace {

std::string DeviceText(const std::vector<std::string>& devices) {
  std::vector<std::string> words;
  for (const std::string& device : devices) {
    if (IsOn(device, "CPU")) words.emplace_back("cpu");
    if (IsOn(device, "GPU")) words.push_back(fmt::format("gpu ({})", device));
    if (IsOn(device, "NPU")) words.push_back(fmt::format("tpu ({})", device));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

Host::Host(const wasinn_host_services& services, const char* config)
    : services_(services),
      log_(services),
      fallback_(log_),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      core_(MakeCore(library_, log_)),
      devices_(AvailableDevices(library_, core_.get())),
      device_text_(DeviceText(devices_)),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "OpenVINO",
            .version = library_.version().c_str(),
            .library = library_.path().c_str(),
            .devices = device_text_.c_str()} {}

}  // namespace wasinn::openvino
