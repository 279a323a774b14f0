// A framework's library, found and opened at run time.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>

namespace wasinn::backend {

struct LibrarySearch {
  const char* framework;  // "ONNX Runtime", for messages
  const char* install;    // "scripts/deps.sh onnxruntime", likewise
  // File names, in order of preference. A folder that has none of them may have one with a version behind.
  std::span<const char* const> names;
  std::string configured;  // an absolute path of the library or of its folder; empty: where the dynamic linker looks
  bool own_symbols_first = false;  // OwnSymbolsFirst()
};

// Open for the life of the OS process, and with local symbols, since frameworks carry the same names inside.
class Library {
 public:
  // Without a configured path: by plain name, for the program may have it open; then where the dynamic linker looks for
  // what this backend asks for (its own RUNPATH, LD_LIBRARY_PATH, the system's), but never the working folder. Throws
  // WASINN_ERROR_UNSUPPORTED_OPERATION that names the files that were looked for, on a line of their own, and how to install them.
  explicit Library(const LibrarySearch& search);

  // NULL where the library has no such symbol.
  void* FindSymbol(const char* name) const;
  // Throws WASINN_ERROR_UNSUPPORTED_OPERATION where it has none: a library of another version, or another library altogether.
  template <typename Function>
  Function Symbol(const char* name) const {
    return reinterpret_cast<Function>(RequireSymbol(name));
  }
  // The real path of the library that has this address.
  static std::string PathOf(const void* address);

 private:
  void* RequireSymbol(const char* name) const;

  const char* framework_;
  void* handle_ = nullptr;
};

// For what a framework can be told by the environment only, before its library is opened, which reads it then. Where the
// environment has the variable already, the operator's word counts, and nothing is written. Else this is the one moment
// at which another thread of the program must not be reading the environment (backend.h): glibc has no lock that both
// take.
inline void TellFramework(const char* variable, const char* value) {
  if (std::getenv(variable) == nullptr) setenv(variable, value, 0);
}

// Flags for dlopen: local symbols, and the library's own symbols before those of the program and its libraries, for a
// framework that a program with other versions of what it has inside would break (docs/decisions/0098). A program with an
// allocator of its own has the usual order.
int OwnSymbolsFirst();

// NULL: dlerror() has the reason.
void* OpenLibrary(const char* file, int flags = RTLD_NOW | RTLD_LOCAL);

// To be called before a library is opened. Throws WASINN_ERROR_UNSUPPORTED_OPERATION where the file, or one that it needs
// from a folder that it names, has the dynamic linker look in the working folder: what lies there may be a guest's. A
// file that is not there, or is no library, is the linker's to complain of.
void CheckDependencies(const std::filesystem::path& library);

}  // namespace wasinn::backend
