#include "openvino/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/error.h"
#include "openvino/host.h"

namespace wasinn::openvino {

using backend::Config;
using backend::Error;

namespace {

bool Has(const Host& host, std::string_view kind) {
  return std::ranges::any_of(host.devices(), [&](const std::string& device) { return IsOn(device, kind); });
}

[[noreturn]] void RefuseTarget(const char* target, const char* kind, const Host& host) {
  throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
              fmt::format("target {}: OpenVINO {} has no device {}, but {}. It needs the plugin for it "
                          "(libopenvino_intel_{}_plugin.so, part of Intel's archives and of the Python package) and "
                          "the device's driver; name that OpenVINO with the key 'library'",
                          target, host.library().version(), kind, fmt::join(host.devices(), ", "),
                          kind[0] == 'G' ? "gpu" : "npu"));
}

// The caller computes too, so that one thread for each stream is no thread beside the callers'.
Config::Entries CpuProperties(const ModelConfig& config, int streams) {
  return {{"INFERENCE_NUM_THREADS", std::to_string(config.threads * streams)},
          {"NUM_STREAMS", std::to_string(streams)},
          // It would pin the callers' threads, which are the host's.
          {"ENABLE_CPU_PINNING", "NO"}};
}

}  // namespace

std::vector<std::string> AvailableDevices(const OvLibrary& library, ov_core_t* core) {
  ov_available_devices_t list = {};
  library.Check(library.api().ov_core_get_available_devices(core, &list), "asking for the devices");
  std::vector<std::string> devices(list.devices, list.devices + list.size);
  library.api().ov_available_devices_free(&list);
  return devices;
}

bool IsOn(std::string_view device, std::string_view kind) {
  return device.starts_with(kind) && (device.size() == kind.size() || device[kind.size()] == '.');
}

std::vector<std::string> DevicesOf(uint32_t target, const Host& host) {
  switch (target) {
    case WASINN_TARGET_CPU:
      return {"CPU"};
    case WASINN_TARGET_GPU:
      if (!Has(host, "GPU")) RefuseTarget("gpu", "GPU", host);
      return {"GPU"};
    case WASINN_TARGET_TPU:
      if (!Has(host, "NPU")) RefuseTarget("tpu", "NPU", host);
      return {"NPU"};
    case WASINN_TARGET_AUTO:
      // Where there is nothing to choose, OpenVINO's chooser would only stand in between.
      if (Has(host, "GPU") || Has(host, "NPU")) return {"AUTO", "CPU"};
      return {"CPU"};
    default:
      throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                  fmt::format("target {}: OpenVINO serves cpu, gpu, tpu (NPU) and auto", static_cast<int>(target)));
  }
}

Config::Entries PropertiesOf(const std::string& device, const ModelConfig& config, int streams) {
  Config::Entries properties = {{"PERFORMANCE_HINT", config.performance}};
  const Config::Entries cpu = CpuProperties(config, streams);
  if (IsOn(device, "CPU")) {
    properties.insert(properties.end(), cpu.begin(), cpu.end());
  } else if (device.starts_with("AUTO")) {
    std::vector<std::string> words;
    for (const auto& [key, value] : cpu) words.push_back(fmt::format("{}:{}", key, value));
    properties.emplace_back("DEVICE_PROPERTIES", fmt::format("{{CPU:{{{}}}}}", fmt::join(words, ",")));
  }
  if (config.precision) properties.emplace_back("INFERENCE_PRECISION_HINT", *config.precision);
  if (config.cache_dir) properties.emplace_back("CACHE_DIR", *config.cache_dir);
  properties.insert(properties.end(), config.properties.begin(), config.properties.end());
  return properties;
}

}  // namespace wasinn::openvino
