#include "common/library.h"

#include <fmt/ranges.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <locale>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/library_folders.h"
#include "common/process_turn.h"
#include "common/throw.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace wasinn::backend {

namespace {

// The linker searches these last; before, it searches the folders of its own configuration.
bool IsSystems(const std::string& folder) {
  const auto rest = [&](std::string_view prefix) { return std::string_view(folder).substr(prefix.size()); };
  for (const std::string_view prefix : {"/usr/lib", "/lib"}) {
    if (!folder.starts_with(prefix)) continue;
    // "/lib", "/lib64", "/lib/x86_64-linux-gnu"
    if (rest(prefix).empty() || rest(prefix) == "64" || rest(prefix) == "32") return true;
    return rest(prefix).starts_with('/') && rest(prefix).contains("-linux-gnu") &&
           rest(prefix).find('/', 1) == std::string_view::npos;
  }
  return false;
}

// The newest "NAME.VERSION" of a folder, "libonnxruntime.so.1.31.1" for "libonnxruntime.so.1"; empty if it has none.
// Python's packages have no links, and so no file with the plain name.
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
    // Never the working folder, whatever a variable names.
    if (!folder.is_absolute()) return;
    for (const char* name : search.names) candidates.push_back((folder / name).string());
    for (const char* name : search.names) {
      const std::string file = WithVersion(folder, name);
      if (!file.empty()) candidates.push_back((folder / file).string());
    }
  };
  if (search.configured.empty()) {
    // In the linker's order, but with whole paths, so that a file can be checked before it is opened. By its plain name
    // if it may be in the linker's own configuration.
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
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "library: expected an absolute path, found {}", search.configured);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    add_folder(path);
  } else {
    candidates = {search.configured};
  }
  return candidates;
}

// The beginning of the object with this address. An address in a program may be a stub for another object's function,
// if the program is not position-independent: such an address is in no object.
const void* ObjectOf(const void* address) {
  Dl_info object = {};
  const ElfW(Sym)* symbol = nullptr;
  const int found =
      dladdr1(address, &object, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)), RTLD_DL_SYMENT);
  if (found == 0 || (symbol != nullptr && symbol->st_shndx == SHN_UNDEF)) return nullptr;
  return object.dli_fbase;
}

// Whether the OS process finds this function in the same library as `other`, so that nothing replaces it.
bool IsTheSystems(const char* function, const void* other) {
  const void* object = ObjectOf(dlsym(RTLD_DEFAULT, function));
  return object == nullptr || object == ObjectOf(other);
}

// A program with its own allocator, such as a sanitizer's, must serve the framework, too: the system's libraries take
// over memory that the framework releases.
bool AllocatesAsTheSystem() {
  const auto* libc = reinterpret_cast<const void*>(&gnu_get_libc_version);
  const auto* libstdcxx = reinterpret_cast<const void*>(&std::set_new_handler);
  return IsTheSystems("malloc", libc) && IsTheSystems("free", libc) && IsTheSystems("_Znwm", libstdcxx) &&
         IsTheSystems("_ZdlPv", libstdcxx);
}

// A program that names a stream has a copy of it, and all libraries use that one. A library whose own symbols come
// first would use libstdc++'s, which is never initialised: zeroes.
template <typename Stream>
void Make(void* libstdcxx, const char* name, Stream& everybodys) {
  void* hidden = dlsym(libstdcxx, name);
  if (hidden == nullptr || hidden == &everybodys || *static_cast<void**>(hidden) != nullptr) return;
  auto* made = new (hidden) Stream(everybodys.rdbuf());
  made->copyfmt(everybodys);
}

// The same holds for a facet's number, the index in a locale: libstdc++'s own has none, and std::use_facet finds
// nothing. Names as in the C++ ABI; @ stands for the type of character.
#define WASINN_IN "St19istreambuf_iteratorI@St11char_traitsI@EEE"
#define WASINN_OUT "St19ostreambuf_iteratorI@St11char_traitsI@EEE"
constexpr const char* kFacets[] = {
    "St5ctypeI@E", "St7codecvtI@c11__mbstate_tE", "St7num_getI@" WASINN_IN, "St7num_putI@" WASINN_OUT,
    "St8time_putI@" WASINN_OUT,
    // Each in two forms, the second with the strings of C++11.
    "St7collateI@E", "St7__cxx117collateI@E", "St8messagesI@E", "St7__cxx118messagesI@E", "St8numpunctI@E",
    "St7__cxx118numpunctI@E", "St10moneypunctI@Lb0EE", "St7__cxx1110moneypunctI@Lb0EE", "St10moneypunctI@Lb1EE",
    "St7__cxx1110moneypunctI@Lb1EE", "St8time_getI@" WASINN_IN, "St7__cxx118time_getI@" WASINN_IN,
    "St9money_getI@" WASINN_IN, "St7__cxx119money_getI@" WASINN_IN, "St9money_putI@" WASINN_OUT,
    "St7__cxx119money_putI@" WASINN_OUT};
#undef WASINN_IN
#undef WASINN_OUT

void NumberHiddenFacets(void* libstdcxx) {
  for (const std::string_view facet : kFacets) {
    for (const char character : {'c', 'w'}) {
      std::string name = "_ZN" + std::string(facet) + "2idE";
      std::ranges::replace(name, '@', character);
      void* hidden = dlsym(libstdcxx, name.c_str());
      const void* everybodys = dlsym(RTLD_DEFAULT, name.c_str());
      if (hidden == nullptr || everybodys == nullptr || hidden == everybodys) continue;
      std::memcpy(hidden, everybodys, sizeof(std::locale::id));
    }
  }
}

void MakeHiddenObjects() {
  void* libstdcxx = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libstdcxx == nullptr) return;
  ProcessTurn turn;  // other backends contain this code, too
  turn.Take("/proc/self/attr");
  Make(libstdcxx, "_ZSt3cin", std::cin);
  Make(libstdcxx, "_ZSt4cout", std::cout);
  Make(libstdcxx, "_ZSt4cerr", std::cerr);
  Make(libstdcxx, "_ZSt4clog", std::clog);
  Make(libstdcxx, "_ZSt4wcin", std::wcin);
  Make(libstdcxx, "_ZSt5wcout", std::wcout);
  Make(libstdcxx, "_ZSt5wcerr", std::wcerr);
  Make(libstdcxx, "_ZSt5wclog", std::wclog);
  NumberHiddenFacets(libstdcxx);
  dlclose(libstdcxx);
}

}  // namespace

Library::Library(const LibrarySearch& search) : framework_(search.framework) {
  const int flags = search.own_symbols_first ? OwnSymbolsFirst() : RTLD_NOW | RTLD_LOCAL;
  // The program may have it open.
  if (search.configured.empty()) handle_ = dlopen(search.names.front(), flags | RTLD_NOLOAD);
  if (handle_ != nullptr) return;
  std::vector<std::string> tried;
  std::string broken;  // the linker's message about the first file that exists and does not open
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
  Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "{}'s library {}; {} installs it\nlooked for: {}", search.framework, what,
        search.install, fmt::join(tried, ", "));
}

void* Library::FindSymbol(const char* name) const { return dlsym(handle_, name); }

void* Library::RequireSymbol(const char* name) const {
  void* symbol = FindSymbol(name);
  if (symbol == nullptr) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "the library that was found as {} has no {}", framework_, name);
  }
  return symbol;
}

std::string Library::PathOf(const void* address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code failed;
  const auto real = std::filesystem::canonical(info.dli_fname, failed);
  return failed ? info.dli_fname : real.string();
}

int OwnSymbolsFirst() {
  static const int flags = [] {
    if (!AllocatesAsTheSystem()) return RTLD_NOW | RTLD_LOCAL;
    MakeHiddenObjects();
    return RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
  }();
  return flags;
}

void* OpenLibrary(const char* file, int flags) {
#ifdef __SANITIZE_ADDRESS__
  // Memory that a framework allocates when it is opened stays until the end of the OS process. LeakSanitizer must not
  // know of it: to find that it may ignore a leak takes it a second in each process.
  const __lsan::ScopedDisabler disabled;
#endif
  return dlopen(file, flags);
}

}  // namespace wasinn::backend
