// A backend in two libraries: the first one has the table and loads quickly on any machine, for hosts open all backends
// to learn their formats. The second one, its runtime, lies beside it, is linked to the framework and does the work.
#pragma once

#include <wasinn/backend.h>

#include <string>

#include "common/table.h"

namespace wasinn::backend {

// The table of the runtime in `file`, which lies beside the library with the address `here`, by its function `symbol`.
// Opened for the life of the OS process. Throws WASINN_UNSUPPORTED_OPERATION, with `otherwise` and why it did not open.
const wasinn_backend* OpenRuntimeBeside(const void* here, const char* file, const char* symbol,
                                        const std::string& otherwise);

// The runtime's function of the same place in the table. `Runtime` gives the runtime's table, which is there, since
// every object that a function gets came from it.
template <auto Runtime, auto Member>
struct Forward;
template <auto Runtime, typename R, typename... Args, R (*wasinn_backend::*Member)(Args...)>
struct Forward<Runtime, Member> {
  static R Call(Args... args) { return (Runtime()->*Member)(args...); }
};

// The table of the first library: all that every runtime has is the runtime's. `open` opens that before it calls the
// runtime's own.
template <auto Runtime>
wasinn_backend MakeForwardingTable(const Identity& identity, decltype(wasinn_backend::open) open) {
  return {
      .struct_size = sizeof(wasinn_backend),
      .abi_major = WASINN_BACKEND_ABI_MAJOR,
      .abi_minor = WASINN_BACKEND_ABI_MINOR,
      .name = identity.name,
      .version = identity.version,
      .formats = identity.formats.data(),
      .n_formats = identity.formats.size(),
      .keys = identity.keys.data(),
      .n_keys = identity.keys.size(),
      .install = identity.install,
      .open = open,
      .close = Forward<Runtime, &wasinn_backend::close>::Call,
      .backend_info = Forward<Runtime, &wasinn_backend::backend_info>::Call,
      .load = Forward<Runtime, &wasinn_backend::load>::Call,
      .unload = Forward<Runtime, &wasinn_backend::unload>::Call,
      .info = Forward<Runtime, &wasinn_backend::info>::Call,
      .slot_new = Forward<Runtime, &wasinn_backend::slot_new>::Call,
      .slot_free = Forward<Runtime, &wasinn_backend::slot_free>::Call,
      .bind_input = Forward<Runtime, &wasinn_backend::bind_input>::Call,
      .unbind_input = Forward<Runtime, &wasinn_backend::unbind_input>::Call,
      .compute = Forward<Runtime, &wasinn_backend::compute>::Call,
      .output = Forward<Runtime, &wasinn_backend::output>::Call,
      .cancel = Forward<Runtime, &wasinn_backend::cancel>::Call,
      .discard_outputs = Forward<Runtime, &wasinn_backend::discard_outputs>::Call,
      .take_output = Forward<Runtime, &wasinn_backend::take_output>::Call,
      .outputs = Forward<Runtime, &wasinn_backend::outputs>::Call,
      .describe = Forward<Runtime, &wasinn_backend::describe>::Call,
      .bind_align = identity.bind_align,
  };
}

}  // namespace wasinn::backend
