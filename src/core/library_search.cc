#include "core/library_search.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace wasinn::core {
namespace {

// For what this library asks for, beside its own RUNPATH.
std::vector<std::string> SearchFolders() {
  Dl_info info{};
  link_map* self = nullptr;
  static constexpr char kHere = 0;
  if (::dladdr1(&kHere, &info, reinterpret_cast<void**>(&self), RTLD_DL_LINKMAP) == 0) return {};
  Dl_serinfo sizes{};
  if (::dlinfo(self, RTLD_DI_SERINFOSIZE, &sizes) != 0) return {};
  std::vector<std::max_align_t> memory(sizes.dls_size / sizeof(std::max_align_t) + 1);
  auto* paths = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (::dlinfo(self, RTLD_DI_SERINFOSIZE, paths) != 0 || ::dlinfo(self, RTLD_DI_SERINFO, paths) != 0) return {};
  std::vector<std::string> folders;
  for (unsigned i = 0; i < paths->dls_cnt; ++i) folders.emplace_back(paths->dls_serpath[i].dls_name);
  return folders;
}

}  // namespace

Status CheckLibrarySearch() {
  for (const std::string& folder : SearchFolders()) {
    if (folder.starts_with('/')) continue;
    return Error(WASINN_UNSUPPORTED_OPERATION,
                 "no framework is opened: LD_LIBRARY_PATH has a part that is empty or not an absolute path ('{}'). "
                 "The dynamic linker would look for libraries in the working folder, where a guest may have put "
                 "something; start the program without it",
                 folder);
  }
  return {};
}

}  // namespace wasinn::core
