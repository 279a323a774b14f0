#include "openvino/core.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "common/dependencies.h"
#include "common/error.h"
#include "common/stderr_capture.h"

namespace wasinn::openvino {

using backend::Error;

namespace {

namespace fs = std::filesystem;

// OpenVINO has a list of its plugins. One that is not in its folder it takes from the working folder, if there is such
// a file: a guest may have put it there. So it gets a list of ours, with a path for each name of its own list.
struct Plugin {
  std::string_view device;
  std::vector<const char*> files;  // the first that is there
};

const std::vector<Plugin>& Plugins() {
  static const std::vector<Plugin> plugins = {
      {"AUTO", {"auto"}},     {"BATCH", {"auto_batch"}}, {"CPU", {"intel_cpu", "arm_cpu"}},
      {"GPU", {"intel_gpu"}}, {"HETERO", {"hetero"}},    {"MULTI", {"auto"}},
      {"NPU", {"intel_npu"}}, {"TEMPLATE", {"template"}}};
  return plugins;
}

// Where OpenVINO looks too: in a folder of this version, and beside itself. A file that is nowhere is named in the
// latter, where it would be.
fs::path FileOf(const OvLibrary& library, const Plugin& plugin) {
  const std::string& version = library.version();
  const fs::path beside = library.folder();
  std::error_code ignored;
  for (const fs::path& folder : {beside / ("openvino-" + version.substr(0, version.find('-'))), beside}) {
    for (const char* name : plugin.files) {
      fs::path file = folder / fmt::format("libopenvino_{}_plugin.so", name);
      if (fs::exists(file, ignored)) return file;
    }
  }
  return beside / fmt::format("libopenvino_{}_plugin.so", plugin.files.front());
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("&<>\"'").find(c) == std::string_view::npos) {
      escaped += c;
    } else {
      escaped += fmt::format("&#{};", static_cast<int>(c));
    }
  }
  return escaped;
}

std::string PluginsXml(const OvLibrary& library) {
  std::string xml = "<ie><plugins>";
  for (const Plugin& plugin : Plugins()) {
    xml +=
        fmt::format(R"(<plugin name="{}" location="{}"/>)", plugin.device, Escaped(FileOf(library, plugin).string()));
  }
  return xml + "</plugins></ie>";
}

// A file that nobody else can open, for OpenVINO takes its list from a file only.
base::Descriptor PrivateFile(std::string_view text) {
  base::Descriptor file(memfd_create("wasinn-plugins", MFD_CLOEXEC));
  if (file.is_open() && write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return file;
  throw Error(WASINN_ERROR_RUNTIME, "cannot make the file that names OpenVINO's plugins");
}

// OpenVINO's plugin for CPUs gives the thread that opens it another stack for signals, which it frees with the core.
// Who ends the thread (a sanitizer) may take it for the thread's own and free it, too.
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

// Should a later OpenVINO have a plugin that our list lacks, it finds itself in another working folder than the guests:
// in a thread that has one of its own. Where a container forbids that, our list alone must do.
void RunInFolder(const std::string& folder, const std::function<void()>& work) {
  std::exception_ptr failed;
  std::thread([&] {
    const KeepsSignalStack keeps;
    if (unshare(CLONE_FS) == 0) (void)!chdir(folder.c_str());
    try {
      work();
    } catch (...) {
      failed = std::current_exception();
    }
  }).join();
  if (failed) std::rethrow_exception(failed);
}

// Makes the devices look, too.
void OpenPlugins(const OvLibrary& library, OvPtr<ov_core_t>* core) {
  const base::Descriptor list = PrivateFile(PluginsXml(library));
  ov_core_t* raw = nullptr;
  library.Check(library.api().ov_core_create_with_config(fmt::format("/proc/self/fd/{}", list.number()).c_str(), &raw),
                "making OpenVINO's core", WASINN_ERROR_UNSUPPORTED_OPERATION);
  core->reset(raw);
  // Whoever truncates a mapped file kills every guest of the process.
  library.Check(library.api().ov_core_set_property(raw, "", "ENABLE_MMAP", "NO"), "switching file mapping off");
  ov_available_devices_t devices = {};
  library.Check(library.api().ov_core_get_available_devices(raw, &devices), "asking for the devices");
  library.api().ov_available_devices_free(&devices);
}

bool IsMissing(const OvLibrary& library, std::string_view device) {
  const std::string_view kind = device.substr(0, device.find_first_of(".("));
  const auto plugin = std::ranges::find(Plugins(), kind, &Plugin::device);
  std::error_code ignored;
  return plugin != Plugins().end() && !fs::exists(FileOf(library, *plugin), ignored);
}

}  // namespace

// What looks at the machine's CPUs for OpenVINO complains where there is no /sys, and of nothing else.
OvPtr<ov_core_t> MakeCore(const OvLibrary& library, const backend::Log& log) {
  for (const Plugin& plugin : Plugins()) backend::CheckDependencies(FileOf(library, plugin));
  backend::StderrCapture capture([](std::string_view line) { return line.starts_with("hwloc/"); });
  OvPtr<ov_core_t> core(nullptr, library.api().ov_core_free);
  RunInFolder(library.folder(), [&] { OpenPlugins(library, &core); });
  std::string line = capture.Finish();
  while (line.ends_with('\n')) line.pop_back();
  if (!line.empty()) log.Write(WASINN_LOG_DEBUG, "openvino: " + line);
  return core;
}

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

}  // namespace wasinn::openvino
