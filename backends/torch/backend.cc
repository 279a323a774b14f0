// The backend's table of functions. All but the first need PyTorch, and are the runtime's: a second library of this
// backend that is linked to libtorch, which is opened before it.
#include <dlfcn.h>
#include <wasinn/backend.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "common/abi.h"
#include "common/library.h"
#include "common/runtime.h"
#include "common/throw.h"
#include "torch/config.h"

namespace wasinn::torch {

using backend::Throw;

namespace {

constexpr char kInstall[] = "scripts/deps.sh torch";
constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "pytorch"};
constexpr const wasinn_format* kFormats[] = {&kFormat};
constexpr const char* kNames[] = {"libtorch.so"};

std::atomic<const wasinn_backend*> runtime = nullptr;

// NULL before OpenRuntime has succeeded.
const wasinn_backend* Runtime() { return runtime.load(std::memory_order_acquire); }

// The Fortran library that OpenBLAS needs does not search its own folder for its needs, so they are opened first. If
// they are missing, they are not needed, or the linker reports it.
void OpenHelpers(const std::string& configured) {
  constexpr char kQuadmath[] = "libquadmath.so.0";
  if (configured.empty()) {
    dlopen(kQuadmath, RTLD_NOW | RTLD_LOCAL);
    return;
  }
  std::error_code ignored;
  const std::filesystem::path path(configured);
  if (!path.is_absolute()) return;
  const auto folder = std::filesystem::is_directory(path, ignored) ? path : path.parent_path();
  dlopen((folder / kQuadmath).c_str(), RTLD_NOW | RTLD_LOCAL);
}

// A program that is linked to libtorch only runs with the version that it was compiled for.
void CheckVersion(const backend::Library& library, const std::string& path) {
  const auto version = reinterpret_cast<uint64_t (*)()>(library.FindSymbol("aoti_torch_abi_version"));
  std::string found = "an older version";
  if (version != nullptr) found = fmt::format("{}.{}", version() >> 56, (version() >> 48) & 0xff);
  const std::string built = WASINN_TORCH_VERSION;
  if (built.starts_with(found + ".")) return;
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
        "{} is PyTorch {}: this backend was built for {}, and runs with that only; {} installs it, or build wasinn "
        "with that library's headers",
        path, found, built, kInstall);
}

const wasinn_backend* OpenRuntimeLibrary() {
  static constexpr char kHere = 0;
  return backend::OpenRuntimeBeside(
      &kHere, WASINN_TORCH_RUNTIME, "wasinn_torch_runtime",
      fmt::format("the torch backend's {} did not open with the libtorch that was found; {} installs the right one",
                  WASINN_TORCH_RUNTIME, kInstall));
}

// Thread-safe. The first success decides about the libtorch of this OS process: C++ libraries cannot be loaded twice.
// Throws WASINN_ERROR_UNSUPPORTED_OPERATION that names the missing part. `library`: the path of libtorch.so, or empty.
void OpenRuntime(const std::string& library) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  // A missing library is reported even if another host has already opened one.
  if (Runtime() != nullptr && library.empty()) return;
  OpenHelpers(library);
  const backend::Library torch({.framework = "PyTorch", .install = kInstall, .names = kNames, .configured = library});
  CheckVersion(torch, torch.PathOf(torch.FindSymbol("aoti_torch_abi_version")));
  if (Runtime() == nullptr) runtime.store(OpenRuntimeLibrary(), std::memory_order_release);
}

wasinn_error* Open(const wasinn_host_services* services, const char* config, wasinn_backend_state** out) {
  if (wasinn_error* error = backend::Guard(
          [&] { OpenRuntime(BackendConfig::Parse(config, backend::ReadStruct(services).threads).library); })) {
    return error;
  }
  return Runtime()->open(services, config, out);
}

}  // namespace

}  // namespace wasinn::torch

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  using namespace wasinn::torch;
  static const wasinn_backend table = [] {
    wasinn_backend made = wasinn::backend::MakeForwardingTable<Runtime>({.name = "torch",
                                                                         .version = WASINN_BACKEND_VERSION,
                                                                         .formats = kFormats,
                                                                         .keys = Keys(),
                                                                         .install = kInstall,
                                                                         .bind_align = 1},
                                                                        Open);
    made.open_code = wasinn::backend::Forward<Runtime, &wasinn_backend::open_code>::Call;
    return made;
  }();
  return host_abi_major == WASINN_BACKEND_ABI_MAJOR ? &table : nullptr;
}
