// wasi-nn in a wasmtime_linker_t: every function of wasinn_functions() under its module and name.
//
// A linker serves many stores, instances and threads at once, so it keeps nothing of a guest: the guest and its memory
// are looked up at each call. That look-up by name is most of a call's cost (50 of 70 ns on Wasmtime 48). The C API
// gives
// a calling instance no identity for a safe cache; an embedder may have one.
//
// Needs no C++ library, so that C programs can link it. C++17, because it is also installed as source.
#include <wasinn/engine.h>
#include <wasinn/wasmtime.h>

#include <cstdlib>
#include <cstring>

#include "caller_memory.h"
#include "error_status.h"
#include "function_type.h"

namespace wasinn::wasmtime {
namespace {

// Finds the caller: by one of the functions.
struct Finder {
  wasinn_wasmtime_guest_of guest_of;
  wasinn_wasmtime_caller_of caller_of;
  void* user;
};

// The data of one host function. Owned by the linker, constant after its definition.
struct Binding {
  uint32_t (*call)(wasinn_guest*, const wasinn_memory*, const void*, size_t);
  Finder find;
};

wasinn_guest* SameGuest(wasmtime_context_t*, void* user) { return static_cast<wasinn_guest*>(user); }

wasm_trap_t* Call(void* env, wasmtime_caller_t* caller, wasmtime_val_raw_t* values, size_t) {
  const Binding& binding = *static_cast<const Binding*>(env);
  wasmtime_context_t* context = wasmtime_caller_context(caller);
  const Finder& find = binding.find;
  const wasinn_wasmtime_caller guest = find.caller_of != nullptr
                                           ? find.caller_of(context, find.user)
                                           : wasinn_wasmtime_caller{find.guest_of(context, find.user), nullptr};
  const CallerMemory memory(caller, context, guest.memory);
  const uint32_t result = binding.call(guest.guest, memory.view(), values, sizeof *values);
  values[0].i64 = result;  // all 64 bits, as Wasmtime itself writes an i32
  return nullptr;
}

wasinn_status* Define(wasmtime_linker_t* linker, const wasinn_function& function, const Finder& find) {
  auto* binding = static_cast<Binding*>(std::malloc(sizeof(Binding)));
  if (binding == nullptr) return wasinn_status_new(WASINN_ERROR_RUNTIME, "out of memory");
  *binding = {function.call, find};
  wasm_functype_t* type = TypeOf(function);
  // The linker owns the binding from here on, even if this fails.
  wasmtime_error_t* error =
      wasmtime_linker_define_func_unchecked(linker, function.module, std::strlen(function.module), function.name,
                                            std::strlen(function.name), type, Call, binding, std::free);
  wasm_functype_delete(type);
  return error == nullptr ? nullptr : ToStatus(error);
}

wasinn_status* Link(wasmtime_linker_t* linker, const Finder& find) {
  if (linker == nullptr || (find.guest_of == nullptr && find.caller_of == nullptr)) {
    return wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT,
                             "linking wasi-nn needs a linker and a way to find the guest");
  }
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  for (size_t i = 0; i < count; ++i) {
    if (wasinn_status* status = Define(linker, *functions[i], find)) return status;
  }
  return nullptr;
}

}  // namespace
}  // namespace wasinn::wasmtime

extern "C" {

wasinn_status* wasinn_wasmtime_link(wasmtime_linker_t* linker, wasinn_host*, wasinn_wasmtime_guest_of guest_of,
                                    void* user) {
  return wasinn::wasmtime::Link(linker, {guest_of, nullptr, user});
}

wasinn_status* wasinn_wasmtime_link_callers(wasmtime_linker_t* linker, wasinn_host*,
                                            wasinn_wasmtime_caller_of caller_of, void* user) {
  return wasinn::wasmtime::Link(linker, {nullptr, caller_of, user});
}

wasinn_status* wasinn_wasmtime_link_guest(wasmtime_linker_t* linker, wasinn_guest* guest) {
  return wasinn_wasmtime_link(linker, nullptr, wasinn::wasmtime::SameGuest, guest);
}

}  // extern "C"
