#include "onnx/host.h"

#include <fmt/format.h>

#include "onnx/load_heap.h"
#include "onnx/session_options.h"

namespace wasinn::onnx {

namespace {

// "CPUExecutionProvider" → "cpu". Empty for what is no device of this machine.
std::string Device(std::string provider) {
  constexpr std::string_view kSuffix = "ExecutionProvider";
  if (provider.ends_with(kSuffix)) provider.resize(provider.size() - kSuffix.size());
  if (provider == "CPU") return "cpu";
  if (provider == "Azure") return "";  // asks a server
  if (provider == "CUDA" || provider == "Tensorrt" || provider == "ROCM" || provider == "MIGraphX") {
    return fmt::format("gpu ({})", provider == "Tensorrt" ? "TensorRT" : provider);
  }
  return provider;
}

std::string Devices(const OrtLibrary& library) {
  std::string devices = "cpu";
  for (const std::string& provider : AvailableProviders(library)) {
    const std::string device = Device(provider);
    if (!device.empty() && device != "cpu") devices += fmt::format(", {}", device);
  }
  return devices;
}

}  // namespace

Host::Host(const wasinn_host_services& services, const char* config)
    : log_(services),
      fallback_(log_, "onnx"),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      environment_(library_, log_, config_.threads, config_.spinning),
      folding_site_(LoadHeap::SiteOf(library_, environment_.get())),
      devices_(Devices(library_)),
      info_{.struct_size = sizeof(wasinn_backend_info),
            .framework = "ONNX Runtime",
            .version = library_.version().c_str(),
            .library = library_.path().c_str(),
            .devices = devices_.c_str()},
      cache_(config_.cache_bytes) {
  if (folding_site_ == nullptr) {
    log_.Write(WASINN_LOG_WARNING,
               fmt::format("onnx: {} takes its memory in a way that is not known: models of guests are slower, since "
                           "what is constant in them is computed each time",
                           library_.path()));
  }
}

}  // namespace wasinn::onnx
