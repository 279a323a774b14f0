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
    : HostBase(services),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      core_(MakeCore(library_, log())),
      devices_(AvailableDevices(library_, core_.get())) {
  Describe("OpenVINO", library_.version(), library_.path(), DeviceText(devices_));
}

}  // namespace wasinn::openvino
