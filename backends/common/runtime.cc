#include "common/runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "common/error.h"

namespace wasinn::backend {

namespace {

std::filesystem::path FolderOf(const void* address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code failed;
  const auto path = std::filesystem::canonical(info.dli_fname, failed);
  return failed ? std::filesystem::path() : path.parent_path();
}

}  // namespace

const wasinn_backend* OpenRuntimeBeside(const void* here, const char* file, const char* symbol,
                                        const std::string& otherwise) {
  const auto path = FolderOf(here) / file;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("{}: {}", otherwise, why != nullptr ? why : "no reason given"));
  }
  const auto function = reinterpret_cast<const wasinn_backend* (*)()>(dlsym(handle, symbol));
  if (function == nullptr) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION, fmt::format("{} has no {}", path.string(), symbol));
  }
  return function();
}

}  // namespace wasinn::backend
