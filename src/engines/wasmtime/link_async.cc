// wasi-nn for guests that run in wasmtime_func_call_async: a thread of the host does calls that may block, and their
// guest is set aside. C++17 without its library, as link.cc.
#include <wasinn/engine.h>
#include <wasinn/wasmtime.h>

#ifdef WASMTIME_FEATURE_ASYNC

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "caller_memory.h"
#include "error_status.h"
#include "function_type.h"

namespace wasinn::wasmtime {
namespace {

// The data of one host function. Owned by the linker, constant after its definition.
struct Binding {
  const wasinn_function* function;
  wasinn_wasmtime_async_caller_of caller_of;
  void* user;
};

// A call under way. Wasmtime owns it until its guest goes on or is deleted.
struct Begun {
  wasinn_call call;
  wasinn_memory memory;
  uint32_t args[WASINN_MAX_PARAMS];
  wasinn_wasmtime_async_caller caller;
  wasmtime_val_t* result;
  uint32_t errno_of_guest = 0;
  std::atomic<bool> done{false};
};

void Done(void* user, uint32_t result) {
  auto* begun = static_cast<Begun*>(user);
  const wasinn_wasmtime_async_caller caller = begun->caller;
  begun->errno_of_guest = result;
  begun->done.store(true, std::memory_order_release);  // from here on it may be freed
  if (caller.wake != nullptr) caller.wake(caller.user);
}

bool IsDone(void* env) {
  auto* begun = static_cast<Begun*>(env);
  if (!begun->done.load(std::memory_order_acquire)) return false;
  begun->result->kind = WASMTIME_I32;
  begun->result->of.i32 = static_cast<int32_t>(begun->errno_of_guest);
  return true;
}

// A guest whose future is deleted before its call is over never runs again, so closing it loses nothing.
void Forget(void* env) {
  auto* begun = static_cast<Begun*>(env);
  if (!begun->done.load(std::memory_order_acquire)) wasinn_guest_close(begun->caller.guest);
  begun->~Begun();
  std::free(begun);
}

bool Always(void*) { return true; }
void Nothing(void*) {}

void Call(void* env, wasmtime_caller_t* caller, const wasmtime_val_t* args, size_t nargs, wasmtime_val_t* results,
          size_t, wasm_trap_t**, wasmtime_async_continuation_t* continuation) {
  const Binding& binding = *static_cast<const Binding*>(env);
  wasmtime_context_t* context = wasmtime_caller_context(caller);
  *continuation = {Always, nullptr, Nothing};
  results[0].kind = WASMTIME_I32;
  results[0].of.i32 = WASINN_ERROR_RUNTIME;
  void* place = std::malloc(sizeof(Begun));
  if (place == nullptr) return;
  auto* begun = new (place) Begun();
  begun->caller = binding.caller_of(context, binding.user);
  begun->memory = *CallerMemory(caller, context, begun->caller.memory).view();
  for (size_t i = 0; i < nargs && i < WASINN_MAX_PARAMS; ++i) begun->args[i] = static_cast<uint32_t>(args[i].of.i32);
  begun->result = &results[0];
  begun->call.struct_size = sizeof begun->call;
  begun->call.function = binding.function;
  begun->call.guest = begun->caller.guest;
  begun->call.memory = &begun->memory;
  begun->call.args = begun->args;
  begun->call.stride = sizeof begun->args[0];
  *continuation = {IsDone, begun, Forget};
  wasinn_guest_call_begin(&begun->call, Done, begun);
}

wasinn_status* Define(wasmtime_linker_t* linker, const Binding& given) {
  auto* binding = static_cast<Binding*>(std::malloc(sizeof(Binding)));
  if (binding == nullptr) return wasinn_status_new(WASINN_ERROR_RUNTIME, "out of memory");
  *binding = given;
  const wasinn_function& function = *given.function;
  wasm_functype_t* type = TypeOf(function);
  // The linker owns the binding from here on, even if this fails.
  wasmtime_error_t* error =
      wasmtime_linker_define_async_func(linker, function.module, std::strlen(function.module), function.name,
                                        std::strlen(function.name), type, Call, binding, std::free);
  wasm_functype_delete(type);
  return error == nullptr ? nullptr : ToStatus(error);
}

}  // namespace
}  // namespace wasinn::wasmtime

extern "C" {

wasinn_status* wasinn_wasmtime_link_async(wasmtime_linker_t* linker, wasinn_host*,
                                          wasinn_wasmtime_async_caller_of caller_of, void* user) {
  if (linker == nullptr || caller_of == nullptr) {
    return wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT,
                             "linking wasi-nn needs a linker and a way to find the guest");
  }
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  for (size_t i = 0; i < count; ++i) {
    if (wasinn_status* status = wasinn::wasmtime::Define(linker, {functions[i], caller_of, user})) return status;
  }
  return nullptr;
}

}  // extern "C"

#endif  // WASMTIME_FEATURE_ASYNC
