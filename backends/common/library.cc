#include "common/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/library_folders.h"
#include "common/dependencies.h"
#include "common/error.h"
#include "common/open_library.h"

namespace wasinn::backend {

namespace {

// The linker looks there at last; before, where its own configuration says.
bool IsSystems(const std::string& folder) {
  const auto rest = [&](std::string_view prefix) { return std::string_view(folder).substr(prefix.size()); };
  for (const std::string_view prefix : {"/usr/lib", "/lib"}) {
    if (!folder.starts_with(prefix)) continue;
    // "/lib", "/lib64", "/lib/x86_64-linux-gnu"
    if (rest(prefix).empty() || rest(prefix) == "64" || rest(prefix) == "32") return true;
    return rest(prefix).starts_with('/') && rest(prefix).find("-linux-gnu") != std::string_view::npos &&
           rest(prefix).find('/', 1) == std::string_view::npos;
  }
  return false;
}

// The newest "NAME.VERSION" of a folder, "libonnxruntime.so.1.31.1" for "libonnxruntime.so.1"; empty if it has none. Python's
// packages have no links, and so no file with the plain name.
std::string WithVersion(const std::filesystem::path& folder, const std::string& name) {
  std::string newest;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(name + ".")) continue;
    const std::string_view version = std::string_view(file).substr(name.size() + 1);
    if (version.empty() || version.find_first_not_of("0123456789.") != std::string_view::npos) continue;
    if (newest.empty() || strverscmp(newest.c_str(), file.c_str()) < 0) newest = file;
  }
  return newest;
}

std::vector<std::string> Candidates(const LibrarySearch& search) {
  std::vector<std::string> candidates;
  const auto add_folder = [&](const std::filesystem::path& folder) {
    // Whatever a variable says, never the working folder.
    if (!folder.is_absolute()) return;
    for (const char* name : search.names) candidates.push_back((folder / name).string());
    for (const char* name : search.names) {
      const std::string file = WithVersion(folder, name);
      if (!file.empty()) candidates.push_back((folder / file).string());
    }
  };
  if (search.configured.empty()) {
    // In the linker's order, but with whole paths, so that we can look at a file before it is opened. By its plain name
    // where the linker's own configuration may have it.
    static constexpr char kHere = 0;
    const std::vector<std::string> folders = base::LibraryFolders(&kHere);
    const auto systems = std::ranges::find_if(folders, IsSystems);
    std::for_each(folders.begin(), systems, add_folder);
    candidates.emplace_back(search.names.front());
    std::for_each(systems, folders.end(), add_folder);
    return candidates;
  }
  const std::filesystem::path path(search.configured);
  if (!path.is_absolute()) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
                fmt::format("library: expected an absolute path, found {}", search.configured));
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    add_folder(path);
  } else {
    candidates = {search.configured};
  }
  return candidates;
}

}  // namespace

Library::Library(const LibrarySearch& search) : framework_(search.framework) {
  const int flags = search.own_symbols_first ? OwnSymbolsFirst() : RTLD_NOW | RTLD_LOCAL;
  // The program may have it open.
  if (search.configured.empty()) handle_ = dlopen(search.names.front(), flags | RTLD_NOLOAD);
  if (handle_ != nullptr) return;
  std::vector<std::string> tried;
  std::string broken;  // the linker's own words of the first file that is there and does not open
  for (const std::string& name : Candidates(search)) {
    if (name.starts_with('/')) CheckDependencies(name);
    handle_ = OpenLibrary(name.c_str(), flags);
    if (handle_ != nullptr) return;
    const char* why = dlerror();
    std::error_code ignored;
    if (broken.empty() && why != nullptr && std::filesystem::exists(name, ignored)) broken = why;
    tried.push_back(std::filesystem::path(name).lexically_normal().string());
  }
  const std::string what = broken.empty() ? "was not found" : fmt::format("does not open ({})", broken);
  throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
              fmt::format("{}'s library {}; {} installs it\nlooked for: {}", search.framework, what, search.install,
                          fmt::join(tried, ", ")));
}

void* Library::FindSymbol(const char* name) const { return dlsym(handle_, name); }

void* Library::RequireSymbol(const char* name) const {
  void* symbol = FindSymbol(name);
  if (symbol == nullptr) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("the library that was found as {} has no {}", framework_, name));
  }
  return symbol;
}

std::string Library::PathOf(const void* address) const {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code failed;
  const auto real = std::filesystem::canonical(info.dli_fname, failed);
  return failed ? info.dli_fname : real.string();
}

}  // namespace wasinn::backend
