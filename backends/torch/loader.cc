#include "torch/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>

#include "common/error.h"
#include "common/library.h"
#include "common/runtime.h"

namespace wasinn::torch {

using backend::Error;

namespace {

constexpr const char* kNames[] = {"libtorch.so"};

std::atomic<const wasinn_backend*> runtime = nullptr;

// The Fortran library that OpenBLAS needs does not look beside itself for what it needs, so that has to be there first.
// Where there is none, none is needed, or the linker will say so.
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

// A program that is linked to libtorch runs with the version that it was compiled for, and no other.
void CheckVersion(const backend::Library& library, const std::string& path) {
  const auto version = reinterpret_cast<uint64_t (*)()>(library.FindSymbol("aoti_torch_abi_version"));
  std::string found = "an older version";
  if (version != nullptr) found = fmt::format("{}.{}", version() >> 56, (version() >> 48) & 0xff);
  const std::string built = WASINN_TORCH_VERSION;
  if (built.starts_with(found + ".")) return;
  throw Error(
      WASINN_ERROR_UNSUPPORTED_OPERATION,
      fmt::format("{} is PyTorch {}: this backend was built for {}, and runs with that only; {} installs it, or "
                  "build wasinn with that library's headers",
                  path, found, built, kInstall));
}

const wasinn_backend* OpenRuntimeLibrary() {
  static constexpr char kHere = 0;
  return backend::OpenRuntimeBeside(
      &kHere, WASINN_TORCH_RUNTIME, "wasinn_torch_runtime",
      fmt::format("the torch backend's {} did not open with the libtorch that was found; {} installs the right one",
                  WASINN_TORCH_RUNTIME, kInstall));
}

}  // namespace

void OpenRuntime(const std::string& library) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  // What is not there is said even where another host has opened one already.
  if (Runtime() != nullptr && library.empty()) return;
  OpenHelpers(library);
  const backend::Library torch({.framework = "PyTorch", .install = kInstall, .names = kNames, .configured = library});
  CheckVersion(torch, torch.PathOf(torch.FindSymbol("aoti_torch_abi_version")));
  if (Runtime() == nullptr) runtime.store(OpenRuntimeLibrary(), std::memory_order_release);
}

const wasinn_backend* Runtime() { return runtime.load(std::memory_order_acquire); }

}  // namespace wasinn::torch
