#include "worker/sandboxed_framework.h"

#include <filesystem>
#include <utility>

#include "worker/devices.h"
#include "worker/sandbox_support.h"
#include "worker/warm_up.h"

namespace wasinn::worker {
namespace {

#ifdef WASINN_WITHOUT_WALL

}  // namespace

core::Status SandboxedFramework::Prepare() {
  core::Status status = framework_.Open();
  return status.ok() ? WarmUp(framework_) : std::move(status);
}

core::Status SandboxedFramework::Seal() { return {}; }

#else

core::Status Refused(const std::string& why) {
  return core::Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                     "no model of a guest is loaded outside of the host here: {} (policy.load = \"in-process\" is for "
                     "guests that are trusted)",
                     why);
}

// Adds the folders that may be read. A process that opens the framework itself needs libraries in unknown folders, but
// before guests' bytes and the seal. A process that reads after the seal opens libraries of its own folder (OpenVINO
// the one for ONNX), and the system's libraries that these need.
void AddReadable(const FrameworkOf& framework, SandboxOptions& options) {
  std::string library = framework.setting().library;
  if (framework.inherited()) {
    if (const core::Result<isolation::Framework> it = framework.Describe()) library = it->library;
  }
  if (framework.inherited() || options.reads_when_sealed()) {
    options.readable.push_back(std::filesystem::path(library).parent_path().string());
  } else {
    options.readable.emplace_back("/");
  }
  if (!options.reads_when_sealed()) return;
  for (const char* path : {"/usr/lib", "/lib", "/lib64", "/etc/ld.so.cache"}) options.readable.emplace_back(path);
}

// For this program itself: stacks and buffers of as many channels as a host opens, and malloc's memory for each.
constexpr uint64_t kOwnBytes = uint64_t{192} << 20;

}  // namespace

core::Status SandboxedFramework::Prepare() {
  const SandboxSupport support = FindSandboxSupport();
  SandboxOptions options = SandboxOptionsOf(framework_.setting().backend, support.exec_memory);
  if (framework_.setting().has_devices) {
    AddDevices(options, framework_.folders());
  } else {
    AddReadable(framework_, options);
  }
  if (const std::string missing = support.Missing(options); !missing.empty()) return Refused(missing);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  auto sandbox = Sandbox::RaiseBeforeThreads(std::move(options));
  if (!sandbox) return Refused(sandbox.error());
  sandbox_ = std::move(*sandbox);
  if (core::Status status = framework_.Open(); !status.ok()) return status;
  return WarmUp(framework_);
}

core::Status SandboxedFramework::Seal() {
  const isolation::Setting& setting = framework_.setting();
  uint64_t most = 0;
  if (__builtin_add_overflow(setting.max_model_bytes, setting.max_tensor_bytes, &most) ||
      __builtin_add_overflow(most, kOwnBytes, &most)) {
    most = 0;
  }
  auto sealed = sandbox_->Seal(most);
  return sealed ? core::Status() : Refused(sealed.error());
}

#endif

}  // namespace wasinn::worker
