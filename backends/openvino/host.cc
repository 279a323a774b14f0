#include "openvino/host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/descriptor.h"
#include "common/large_stack.h"
#include "common/library.h"
#include "common/stderr_capture.h"
#include "common/throw.h"

namespace wasinn::openvino {

using backend::Config;
using backend::Throw;
namespace fs = std::filesystem;

namespace {

// OpenVINO has a list of its plugins. If a plugin is not in its folder, it takes a file in the working folder: a guest
// may have put it there. So it gets another list, with an absolute path for each name of its own list.
struct Plugin {
  std::string_view device;
  const char* name;
  const char* other = nullptr;  // if the first is missing
};
constexpr Plugin kPlugins[] = {{"AUTO", "auto"},     {"BATCH", "auto_batch"}, {"CPU", "intel_cpu", "arm_cpu"},
                               {"GPU", "intel_gpu"}, {"HETERO", "hetero"},    {"MULTI", "auto"},
                               {"NPU", "intel_npu"}, {"TEMPLATE", "template"}};

// The folders where OpenVINO also looks: one for this version, and its own. A missing file gets the path in the latter,
// where it would be.
fs::path FileOf(const OvLibrary& library, const Plugin& plugin) {
  const std::string& version = library.version();
  const fs::path beside = library.folder();
  std::error_code ignored;
  for (const fs::path& folder : {beside / ("openvino-" + version.substr(0, version.find('-'))), beside}) {
    for (const char* name : {plugin.name, plugin.other}) {
      if (name == nullptr) continue;
      fs::path file = folder / fmt::format("libopenvino_{}_plugin.so", name);
      if (fs::exists(file, ignored)) return file;
    }
  }
  return beside / fmt::format("libopenvino_{}_plugin.so", plugin.name);
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (!std::string_view("&<>\"'").contains(c)) {
      escaped += c;
    } else {
      escaped += fmt::format("&#{};", static_cast<int>(c));
    }
  }
  return escaped;
}

std::string PluginsXml(const OvLibrary& library) {
  std::string xml = "<ie><plugins>";
  for (const Plugin& plugin : kPlugins) {
    xml +=
        fmt::format(R"(<plugin name="{}" location="{}"/>)", plugin.device, Escaped(FileOf(library, plugin).string()));
  }
  return xml + "</plugins></ie>";
}

// A file that no other user can open, because OpenVINO only reads its list from a file.
base::Descriptor PrivateFile(std::string_view text) {
  base::Descriptor file(memfd_create("wasinn-plugins", MFD_CLOEXEC));
  if (file.is_open() && write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return file;
  Throw(WASINN_ERROR_RUNTIME, "cannot make the file that names OpenVINO's plugins");
}

// OpenVINO's plugin for CPUs gives the thread that opens it another stack for signals, which it frees with the core.
// Code that ends the thread (a sanitizer) may take it for the thread's own and free it, too.
class KeepsSignalStack {
 public:
  KeepsSignalStack() : known_(sigaltstack(nullptr, &before_) == 0) {}
  ~KeepsSignalStack() {
    if (known_) sigaltstack(&before_, nullptr);
  }
  KeepsSignalStack(const KeepsSignalStack&) = delete;
  KeepsSignalStack& operator=(const KeepsSignalStack&) = delete;

 private:
  stack_t before_ = {};
  const bool known_;
};

// If a later OpenVINO has a plugin that this list lacks, it runs in another working folder than the guests': in a
// thread with its own. If a container forbids that, the list must be enough.
void RunInFolder(const std::string& folder, const std::function<void()>& work) {
  backend::RunOnLargeStack(size_t{8} << 20, [&] {
    const KeepsSignalStack keeps;
    if (unshare(CLONE_FS) == 0) (void)!chdir(folder.c_str());
    work();
  });
}

std::vector<std::string> AvailableDevices(const OvLibrary& library, ov_core_t* core) {
  ov_available_devices_t list = {};
  library.Check(library.api().ov_core_get_available_devices(core, &list), "asking for the devices");
  std::vector<std::string> devices(list.devices, list.devices + list.size);
  library.api().ov_available_devices_free(&list);
  return devices;
}

// Also makes it look for devices.
void OpenPlugins(const OvLibrary& library, OvPtr<ov_core_t>* core) {
  const base::Descriptor list = PrivateFile(PluginsXml(library));
  ov_core_t* raw = nullptr;
  library.Check(library.api().ov_core_create_with_config(fmt::format("/proc/self/fd/{}", list.number()).c_str(), &raw),
                "making OpenVINO's core", WASINN_ERROR_UNSUPPORTED_OPERATION);
  core->reset(raw);
  // Truncating a mapped file would kill every guest of the process.
  library.Check(library.api().ov_core_set_property(raw, "", "ENABLE_MMAP", "NO"), "switching file mapping off");
  (void)AvailableDevices(library, raw);
}

bool IsMissing(const OvLibrary& library, std::string_view device) {
  const std::string_view kind = device.substr(0, device.find_first_of(".("));
  const auto* plugin = std::ranges::find(kPlugins, kind, &Plugin::device);
  std::error_code ignored;
  return plugin != std::end(kPlugins) && !fs::exists(FileOf(library, *plugin), ignored);
}

bool Has(const Host& host, std::string_view kind) {
  return std::ranges::any_of(host.devices(), [&](const std::string& device) { return IsOn(device, kind); });
}

[[noreturn]] void RefuseTarget(const char* target, const char* kind, const Host& host) {
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
        "target {}: OpenVINO {} has no device {}, but {}. It needs the plugin for it "
        "(libopenvino_intel_{}_plugin.so, part of Intel's archives and of the Python package) and the device's driver; "
        "name that OpenVINO with the key 'library'",
        target, host.library().version(), kind, fmt::join(host.devices(), ", "), kind[0] == 'G' ? "gpu" : "npu");
}

// The caller computes, too, so one thread for each stream is none in addition to the callers'.
Config::Entries CpuProperties(const ModelConfig& config, int streams) {
  return {{"INFERENCE_NUM_THREADS", std::to_string(config.threads * streams)},
          {"NUM_STREAMS", std::to_string(streams)},
          // It would pin the callers' threads, which are the host's.
          {"ENABLE_CPU_PINNING", "NO"}};
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

// OpenVINO's search for the machine's CPUs complains if there is no /sys, and about nothing else.
OvPtr<ov_core_t> MakeCore(const OvLibrary& library, const backend::Log& log) {
  for (const Plugin& plugin : kPlugins) backend::CheckDependencies(FileOf(library, plugin));
  backend::StderrCapture capture([](std::string_view line) { return line.starts_with("hwloc/"); });
  OvPtr<ov_core_t> core(nullptr, library.api().ov_core_free);
  RunInFolder(library.folder(), [&] { OpenPlugins(library, &core); });
  std::string line = capture.Finish();
  while (line.ends_with('\n')) line.pop_back();
  if (!line.empty()) log.Write(WASINN_LOG_DEBUG, "openvino: " + line);
  return core;
}

}  // namespace

std::string WithoutMissing(const OvLibrary& library, const std::string& device) {
  const size_t colon = device.find(':');
  if (!device.starts_with("AUTO:") && !device.starts_with("MULTI:")) return device;
  std::vector<std::string> kept;
  for (std::string_view rest = std::string_view(device).substr(colon + 1); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (!IsMissing(library, one)) kept.emplace_back(one);
  }
  return kept.empty() ? device : fmt::format("{}:{}", device.substr(0, colon), fmt::join(kept, ","));
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
      // If there is nothing to choose, OpenVINO's AUTO would only be in between.
      if (Has(host, "GPU") || Has(host, "NPU")) return {"AUTO", "CPU"};
      return {"CPU"};
    default:
      Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "target {}: OpenVINO serves cpu, gpu, tpu (NPU) and auto",
            static_cast<int>(target));
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

Host::Host(const wasinn_host_services& services, const char* config)
    : HostOf(services, config), core_(MakeCore(library_, log())), devices_(AvailableDevices(library_, core_.get())) {
  Describe("OpenVINO", DeviceText(devices_));
}

}  // namespace wasinn::openvino
