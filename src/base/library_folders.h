// The folders in which the dynamic linker looks for what a library needs.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <string>
#include <vector>

namespace wasinn::base {

// The folders for the library that contains `here`: its RUNPATH, LD_LIBRARY_PATH, the system's. Empty: unknown.
inline std::vector<std::string> LibraryFolders(const void* here) {
  Dl_info info = {};
  link_map* self = nullptr;
  if (::dladdr1(here, &info, reinterpret_cast<void**>(&self), RTLD_DL_LINKMAP) == 0) return {};
  Dl_serinfo sizes = {};
  if (::dlinfo(self, RTLD_DI_SERINFOSIZE, &sizes) != 0) return {};
  std::vector<std::max_align_t> memory(sizes.dls_size / sizeof(std::max_align_t) + 1);
  auto* paths = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (::dlinfo(self, RTLD_DI_SERINFOSIZE, paths) != 0 || ::dlinfo(self, RTLD_DI_SERINFO, paths) != 0) return {};
  std::vector<std::string> folders;
  folders.reserve(paths->dls_cnt);
  for (unsigned i = 0; i < paths->dls_cnt; ++i) folders.emplace_back(paths->dls_serpath[i].dls_name);
  return folders;
}

}  // namespace wasinn::base
