#include "common/open_library.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <iostream>
#include <mutex>
#include <new>
#include <optional>

#include "common/process_turn.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace wasinn::backend {

namespace {

// Where the object that has this address begins. An address in a program that only leads on to another object's function, as in one that is not
// position-independent, is in none.
const void* ObjectOf(const void* address) {
  Dl_info object = {};
  const ElfW(Sym)* symbol = nullptr;
  const int found =
      dladdr1(address, &object, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)), RTLD_DL_SYMENT);
  if (found == 0 || (symbol != nullptr && symbol->st_shndx == SHN_UNDEF)) return nullptr;
  return object.dli_fbase;
}

// Whether the OS process finds this function in the same library as `other`, and so nobody has put one of their own in its place.
bool IsTheSystems(const char* function, const void* other) {
  const void* object = ObjectOf(dlsym(RTLD_DEFAULT, function));
  return object == nullptr || object == ObjectOf(other);
}

// A program with an allocator of its own, as sanitizers have one, must serve the framework as well: the system's libraries take from it what
// the framework releases.
bool AllocatesAsTheSystem() {
  const auto* libc = reinterpret_cast<const void*>(&gnu_get_libc_version);
  const auto* libstdcxx = reinterpret_cast<const void*>(&std::set_new_handler);
  return IsTheSystems("malloc", libc) && IsTheSystems("free", libc) && IsTheSystems("_Znwm", libstdcxx) &&
         IsTheSystems("_ZdlPv", libstdcxx);
}

// A program that names a stream has a copy of it, and all libraries use that one. A library whose own symbols come first uses libstdc++'s, which
// nobody has made: zeroes.
template <typename Stream>
void Make(void* libstdcxx, const char* name, Stream& everybodys) {
  void* hidden = dlsym(libstdcxx, name);
  if (hidden == nullptr || hidden == &everybodys || *static_cast<void**>(hidden) != nullptr) return;
  auto* made = new (hidden) Stream(everybodys.rdbuf());
  made->copyfmt(everybodys);
}

void MakeHiddenStreams() {
  void* libstdcxx = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libstdcxx == nullptr) return;
  ProcessTurn turn;  // other backends have this code, too
  turn.Take("/proc/self/attr");
  Make(libstdcxx, "_ZSt3cin", std::cin);
  Make(libstdcxx, "_ZSt4cout", std::cout);
  Make(libstdcxx, "_ZSt4cerr", std::cerr);
  Make(libstdcxx, "_ZSt4clog", std::clog);
  Make(libstdcxx, "_ZSt4wcin", std::wcin);
  Make(libstdcxx, "_ZSt5wcout", std::wcout);
  Make(libstdcxx, "_ZSt5wcerr", std::wcerr);
  Make(libstdcxx, "_ZSt5wclog", std::wclog);
  dlclose(libstdcxx);
}

}  // namespace

int OpenFlags() {
  static const int flags = [] {
    if (!AllocatesAsTheSystem()) return RTLD_NOW | RTLD_LOCAL;
    MakeHiddenStreams();
    return RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
  }();
  return flags;
}

void* OpenLibrary(const char* file, int flags) {
#ifdef __SANITIZE_ADDRESS__
  // What a framework allocates as it is opened it keeps to the end of the OS process. LeakSanitizer must not know of it:
  // to find that a leak is one that it shall not tell, it takes a second in each process.
  const __lsan::ScopedDisabler disabled;
#endif
  return dlopen(file, flags);
}

}  // namespace wasinn::backend
