#include "llama/llama_library.h"

#include <filesystem>
#include <mutex>

#include "common/throw.h"
#include "llama/ggml_libraries.h"
#include "llama/layout_check.h"
#include "llama/log_scope.h"

namespace wasinn::llama {

namespace {

constexpr const char* kLibraryNames[] = {"libllama.so", "libllama.so.0"};

backend::Library OpenLlama(const std::string& configured) {
  return backend::Library(
      {.framework = "llama.cpp", .install = "scripts/deps.sh llama", .names = kLibraryNames, .configured = configured});
}

}  // namespace

LlamaLibrary::LlamaLibrary(const std::string& configured) {
  const backend::Library library = OpenLlama(configured);
#define WASINN_FIND(member, function) member = library.Symbol<decltype(&::function)>(#function);
  WASINN_LLAMA_FUNCTIONS(WASINN_FIND)
  WASINN_GGML_FUNCTIONS(WASINN_FIND)
#undef WASINN_FIND
  path_ = library.PathOf(reinterpret_cast<const void*>(version));
  CheckLayouts(*this);
  Start();
  if (const ggml_backend_dev_t cpu = FindDevice(GGML_BACKEND_DEVICE_TYPE_CPU)) {
    const ggml_backend_reg_t reg = dev_reg(cpu);
    threadpool_new = reinterpret_cast<decltype(threadpool_new)>(reg_proc_address(reg, "ggml_threadpool_new"));
    threadpool_free = reinterpret_cast<decltype(threadpool_free)>(reg_proc_address(reg, "ggml_threadpool_free"));
    return;
  }
  backend::Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
                 "llama.cpp has no library for this machine's CPU (libggml-cpu-*.so) next to {}", path_);
}

// Done once for a process, however many hosts open the library.
void LlamaLibrary::Start() const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  LogScope::Install(*this);
  if (dev_count() == 0) {
    for (const auto& library : BestGgmlLibraries(std::filesystem::path(path_).parent_path())) {
      load_device(library.c_str());
    }
  }
  // Without a device it would search for one itself (ggml_libraries.h).
  if (dev_count() > 0) backend_init();
}

ggml_backend_dev_t LlamaLibrary::FindDevice(enum ggml_backend_dev_type type) const {
  for (size_t i = 0; i < dev_count(); ++i) {
    const ggml_backend_dev_t device = dev_get(i);
    if (dev_type(device) == type) return device;
  }
  return nullptr;
}

size_t LlamaLibrary::CountDevices(enum ggml_backend_dev_type type) const {
  size_t n = 0;
  for (size_t i = 0; i < dev_count(); ++i) n += dev_type(dev_get(i)) == type ? 1 : 0;
  return n;
}

std::string LlamaLibrary::Devices() const {
  std::string devices = "cpu";
  for (size_t i = 0; i < dev_count(); ++i) {
    const ggml_backend_dev_t device = dev_get(i);
    if (dev_type(device) == GGML_BACKEND_DEVICE_TYPE_GPU) devices += fmt::format(", gpu ({})", dev_description(device));
  }
  return devices;
}

}  // namespace wasinn::llama
