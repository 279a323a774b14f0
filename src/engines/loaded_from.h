// The file from which a function was loaded.
#pragma once

#include <dlfcn.h>

#include <string>
#include <string_view>

namespace wasinn::engines {

// "" if it is in the program itself, or unknown.
inline std::string LoadedFrom(const void* function) {
  Dl_info found = {};
  if (dladdr(function, &found) == 0 || found.dli_fname == nullptr) return "";
  const std::string_view file = found.dli_fname;
  return file.find(".so") == file.npos ? "" : std::string(file);
}

}  // namespace wasinn::engines
