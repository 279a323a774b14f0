#include "openvino/host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "common/stderr_capture.h"
#include "openvino/device.h"

namespace wasinn::openvino {

namespace {

// What looks at the machine's CPUs for OpenVINO complains where there is no /sys, and of nothing else.
OvPtr<ov_core_t> MakeCore(const OvLibrary& library, const backend::Log& log) {
  backend::StderrCapture capture([](std::string_view line) { return line.starts_with("hwloc/"); });
  ov_core_t* core = nullptr;
  library.Check(library.api().ov_core_create(&core), "making OpenVINO's core", WASINN_UNSUPPORTED_OPERATION);
  OvPtr<ov_core_t> owned(core, library.api().ov_core_free);
  // Whoever truncates a mapped file kills every guest of the process.
  library.Check(library.api().ov_core_set_property(core, "", "ENABLE_MMAP", "NO"), "switching file mapping off");
  (void)AvailableDevices(library, owned.get());  // which makes the devices look
  std::string line = capture.Finish();
  while (line.ends_with('\n')) line.pop_back();
  if (!line.empty()) log.Write(WASINN_LOG_DEBUG, "openvino: " + line);
  return owned;
}

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
      fallback_(log_, "openvino"),
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
