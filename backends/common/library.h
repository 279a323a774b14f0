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
  const char* install;    // "scripts/deps.sh onnxruntime", for messages
  // File names, in order of preference. If a folder has none of them, it may have one with a version at its end.
  std::span<const char* const> names;
  std::string configured;  // an absolute path of the library or of its folder; empty: the dynamic linker's folders
  bool own_symbols_first = false;  // OwnSymbolsFirst()
};

// Open for the life of the OS process, and with local symbols, since frameworks contain the same names.
class Library {
 public:
  // Without a configured path: by plain name, because the program may have it open; then in the dynamic linker's
  // folders for this backend (its RUNPATH, LD_LIBRARY_PATH, the system's), but never in the working folder. Throws
  // WASINN_ERROR_UNSUPPORTED_OPERATION that names the files that were looked for, on a line of their own, and how to
  // install them.
  explicit Library(const LibrarySearch& search);

  // NULL if the library has no such symbol.
  void* FindSymbol(const char* name) const;
  // Throws WASINN_ERROR_UNSUPPORTED_OPERATION if it has none: a library of another version, or a wrong one.
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

// Sets a variable for a framework that only takes a setting from the environment, which it reads when its library is
// opened. If the environment has the variable already, the operator's value stays, and nothing is written. Else no
// other thread of the program may read the environment at this moment (backend.h): glibc has no lock that both take.
inline void SetForFramework(const char* variable, const char* value) {
  if (std::getenv(variable) == nullptr) setenv(variable, value, 0);
}

// Flags for dlopen: local symbols, and the library's own symbols before those of the program and its libraries, for a
// framework that a program with other versions of its parts would break (docs/decisions/0098). A program with its own
// allocator gets the usual order.
int OwnSymbolsFirst();

// NULL: dlerror() has the reason.
void* OpenLibrary(const char* file, int flags = RTLD_NOW | RTLD_LOCAL);

// Call it before a library is opened. Throws WASINN_ERROR_UNSUPPORTED_OPERATION if the file, or one that it needs from
// a folder that it names, makes the dynamic linker search the working folder, in which a guest may have put a library.
// The linker reports a file that is missing, or no library.
void CheckDependencies(const std::filesystem::path& library);

}  // namespace wasinn::backend
