// A framework's library, found and opened at run time.
#pragma once

#include <cstdlib>
#include <span>
#include <string>

namespace wasinn::backend {

struct LibrarySearch {
  const char* framework;  // "ONNX Runtime", for messages
  const char* install;    // "scripts/deps.sh onnxruntime", likewise
  // File names, in order of preference. A folder that has none of them may have one with a version behind.
  std::span<const char* const> names;
  std::string configured;  // an absolute path of the library or of its folder; empty: where the dynamic linker looks
  bool own_symbols_first = false;  // common/open_library.h
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
  // The real path of the file; found by an address inside of it.
  std::string PathOf(const void* address) const;

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

}  // namespace wasinn::backend
