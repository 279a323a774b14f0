#include "unit/direct_context.h"

#include <dlfcn.h>

#include "support/this_build.h"

namespace wasinn::testing {

const wasinn_backend& EchoTable() {
  static const wasinn_backend& table = [] {
    void* const library = dlopen(BackendFile("echo").c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto query = reinterpret_cast<decltype(&wasinn_backend_query)>(dlsym(library, "wasinn_backend_query"));
    return std::ref(*query(WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR));
  }();
  return table;
}

}  // namespace wasinn::testing
