#include "llama/media_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <type_traits>

#include "common/library.h"
#include "common/throw.h"
#include "llama/log_scope.h"

namespace wasinn::llama {

MediaLibrary::MediaLibrary(const std::string& library) {
  const std::string path = (std::filesystem::path(library).parent_path() / "libwasinn_llama_mtmd.so").string();
  backend::CheckDependencies(path);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto find = [&](const char* name, auto* function) {
    *function =
        handle == nullptr ? nullptr : reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(handle, name));
    if (*function != nullptr) return;
    backend::Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "projector: {} was not found; scripts/deps.sh llama installs it",
                   path);
  };
#define WASINN_FIND(member, function) find(#function, &(member));
  WASINN_MEDIA_FUNCTIONS(WASINN_FIND)
#undef WASINN_FIND
  set_log(LogScope::callback(), nullptr);
}

}  // namespace wasinn::llama
