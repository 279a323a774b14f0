#include "bench/module_path.h"

#include <dlfcn.h>
#include <wasinn/wasinn.h>

#include <filesystem>

namespace wasinn::bench {

std::string PathBesideBackends(const char* file) {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&wasinn_version), &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code failed;
  const auto path = std::filesystem::canonical(info.dli_fname, failed).parent_path() / "wasinn" / file;
  return !failed && std::filesystem::exists(path, failed) ? path.string() : "";
}

}  // namespace wasinn::bench
