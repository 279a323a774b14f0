#include "onnx/host.h"

#include <fmt/format.h>

#include "onnx/devices.h"
#include "onnx/load_heap.h"
#include "onnx/session_options.h"

namespace wasinn::onnx {

Host::Host(const wasinn_host_services& services, const char* config)
    : services_(services),
      log_(services),
      fallback_(log_, "onnx"),
      config_(BackendConfig::Parse(config, services.threads)),
      library_(config_.library),
      environment_(library_, log_, config_.threads, config_.spinning),
      folding_site_(LoadHeap::SiteOf(library_, environment_.get())),
      devices_(DevicesText(AvailableProviders(library_))),
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
