#include "core/host/host_options.h"

#include <dlfcn.h>

#include <filesystem>

namespace wasinn::core {

std::string DefaultBackendFolder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&DefaultBackendFolder), &info) == 0 || info.dli_fname == nullptr)
    return "";
  std::error_code error;
  const std::filesystem::path library = std::filesystem::canonical(info.dli_fname, error);
  return error ? "" : (library.parent_path() / "wasinn").string();
}

}  // namespace wasinn::core
