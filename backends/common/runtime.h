// A backend in two libraries. The first one has the table and loads quickly, because hosts open all backends to learn
// their formats. The second one, its runtime, is next to it, is linked to the framework and does the work.
#pragma once

#include <dlfcn.h>
#include <wasinn/backend.h>

#include <filesystem>
#include <string>

#include "common/library.h"
#include "common/table.h"
#include "common/throw.h"

namespace wasinn::backend {

// The table of the runtime in `file`, next to the library with the address `here`, by its function `symbol`. Stays
// open. Throws WASINN_ERROR_UNSUPPORTED_OPERATION with `otherwise` and the reason if it does not open.
inline const wasinn_backend* OpenRuntimeBeside(const void* here, const char* file, const char* symbol,
                                               const std::string& otherwise) {
  const auto path = std::filesystem::path(Library::PathOf(here)).parent_path() / file;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "{}: {}", otherwise, why != nullptr ? why : "no reason given");
  }
  const auto function = reinterpret_cast<const wasinn_backend* (*)()>(dlsym(handle, symbol));
  if (function == nullptr) Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "{} has no {}", path.string(), symbol);
  return function();
}

// The runtime's function with the same place in the table. `Runtime` returns the runtime's table, which exists, since
// it made every object that a function gets.
template <auto Runtime, auto Member>
struct Forward;
template <auto Runtime, typename R, typename... Args, R (*wasinn_backend::*Member)(Args...)>
struct Forward<Runtime, Member> {
  static R Call(Args... args) { return (Runtime()->*Member)(args...); }
};

// The table of the first library: functions that every runtime has are the runtime's. `open` opens the runtime, and
// then calls the runtime's own.
template <auto Runtime>
wasinn_backend MakeForwardingTable(const Identity& identity, decltype(wasinn_backend::open) open) {
  wasinn_backend table = MakeTable(identity);
  const auto forward = [&table]<auto... Members>() { ((table.*Members = Forward<Runtime, Members>::Call), ...); };
  table.open = open;
  forward.template
  operator()<&wasinn_backend::close, &wasinn_backend::backend_info, &wasinn_backend::load, &wasinn_backend::unload,
             &wasinn_backend::info, &wasinn_backend::slot_new, &wasinn_backend::slot_free, &wasinn_backend::bind_input,
             &wasinn_backend::unbind_input, &wasinn_backend::compute, &wasinn_backend::output, &wasinn_backend::cancel,
             &wasinn_backend::discard_outputs, &wasinn_backend::take_output, &wasinn_backend::outputs,
             &wasinn_backend::describe>();
  return table;
}

}  // namespace wasinn::backend
