// wasi:nn in a wasmtime_component_linker_t: the typed host functions of the library that component/ builds call
// wasinn_wit().
//
// That library is a whole Wasmtime. It may or may not be the one that this program runs with, so its functions are
// weak here.
//
// Needs no C++ library, so that C programs can link it. C++17, because it is also installed as source.
#include <wasinn/wasmtime.h>
#include <wasinn/wit.h>

#include <dlfcn.h>
#ifdef __GLIBC__
#include <link.h>
#endif

#include <cstdint>

#include "error_status.h"

#ifdef WASMTIME_FEATURE_COMPONENT_MODEL

// Exported by component/src/link.rs, instance_pre.rs and call_async.rs.
extern "C" {

struct wasinn_component_link_options {
  uint32_t struct_size;
  // The target of calls to wasmtime_component_linker_new. If two libraries are loaded, the linker could be the other
  // one's.
  const void* linker_new;
  const wasinn_wit_functions* functions;
  wasinn_wasmtime_guest_of guest_of;  // nullptr for asynchronous callers
  void* user;
  const char* (*status_message)(const wasinn_status*);
  void (*status_free)(wasinn_status*);
};
#ifdef WASMTIME_FEATURE_ASYNC
struct wasinn_component_async_options {
  uint32_t struct_size;
  wasinn_wasmtime_async_caller_of caller_of;
  void (*guest_close)(wasinn_guest*);
};

[[gnu::weak]] wasmtime_error_t* wasinn_component_link_async(wasmtime_component_linker_t*,
                                                            const wasinn_component_link_options*,
                                                            const wasinn_component_async_options*);
[[gnu::weak]] wasmtime_call_future_t* wasinn_component_pre_instantiate_async(const wasinn_wasmtime_component_pre*,
                                                                             wasmtime_context_t*,
                                                                             wasmtime_component_instance_t*,
                                                                             wasmtime_error_t**);
[[gnu::weak]] wasmtime_call_future_t* wasinn_component_func_call_async(const wasmtime_component_func_t*,
                                                                       wasmtime_context_t*,
                                                                       const wasmtime_component_val_t*, size_t,
                                                                       wasmtime_component_val_t*, size_t,
                                                                       wasmtime_error_t**);
#endif

[[gnu::weak]] wasmtime_error_t* wasinn_component_link(wasmtime_component_linker_t*,
                                                      const wasinn_component_link_options*);
[[gnu::weak]] wasmtime_error_t* wasinn_component_pre_new(const wasmtime_component_linker_t*,
                                                         const wasmtime_component_t*, wasinn_wasmtime_component_pre**);
[[gnu::weak]] wasmtime_error_t* wasinn_component_pre_instantiate(const wasinn_wasmtime_component_pre*,
                                                                 wasmtime_context_t*, wasmtime_component_instance_t*);
[[gnu::weak]] void wasinn_component_pre_delete(wasinn_wasmtime_component_pre*);
[[gnu::weak]] void wasinn_component_raise_limits(wasmtime_context_t*, size_t call_bytes, size_t handles);

}  // extern "C"

namespace wasinn::wasmtime {
namespace {

constexpr char kNotServed[] =
    "this Wasmtime library cannot serve wasi:nn to components; to get one that can: scripts/deps.sh wasmtime-component "
    "where wasinn is built, then build it again (docs/components.md)";

// WASI has handles, too, and a borrowed one counts twice.
constexpr size_t kOtherHandles = 10'000;

// The target of calls to wasmtime_component_linker_new. In a program that is not position-independent (-no-pie) the
// function's address is the same stub of the program in the whole OS process. The dynamic linker knows that the program
// does not define the function, and which library defines it next.
const void* LinkerNew() {
  const void* address = reinterpret_cast<const void*>(&wasmtime_component_linker_new);
#ifdef __GLIBC__
  Dl_info object;
  const ElfW(Sym)* symbol = nullptr;
  const int found =
      dladdr1(address, &object, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)), RTLD_DL_SYMENT);
  if (found != 0 && symbol != nullptr && symbol->st_shndx == SHN_UNDEF) {
    const void* next = dlsym(RTLD_NEXT, "wasmtime_component_linker_new");
    if (next != nullptr) return next;
  }
#endif
  return address;
}

wasinn_guest* SameGuest(wasmtime_context_t*, void* user) { return static_cast<wasinn_guest*>(user); }

wasinn_component_link_options Options(wasinn_wasmtime_guest_of guest_of, void* user) {
  wasinn_component_link_options options = {};
  options.struct_size = sizeof options;
  options.linker_new = LinkerNew();
  options.functions = wasinn_wit();
  options.guest_of = guest_of;
  options.user = user;
  options.status_message = wasinn_status_message;
  options.status_free = wasinn_status_free;
  return options;
}

wasinn_status* NeedsMore() {
  return wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT, "linking wasi:nn needs a linker and a way to find the guest");
}
wasinn_status* NotServed() { return wasinn_status_new(WASINN_ERROR_UNSUPPORTED_OPERATION, kNotServed); }

}  // namespace
}  // namespace wasinn::wasmtime

extern "C" {

wasinn_status* wasinn_wasmtime_component_link(wasmtime_component_linker_t* linker, wasinn_host*,
                                              wasinn_wasmtime_guest_of guest_of, void* user) {
  if (linker == nullptr || guest_of == nullptr) return wasinn::wasmtime::NeedsMore();
  if (wasinn_component_link == nullptr) return wasinn::wasmtime::NotServed();
  const wasinn_component_link_options options = wasinn::wasmtime::Options(guest_of, user);
  wasmtime_error_t* error = wasinn_component_link(linker, &options);
  return error == nullptr ? nullptr : wasinn::wasmtime::ToStatus(error);
}

wasinn_status* wasinn_wasmtime_component_link_guest(wasmtime_component_linker_t* linker, wasinn_guest* guest) {
  return wasinn_wasmtime_component_link(linker, nullptr, wasinn::wasmtime::SameGuest, guest);
}

void wasinn_wasmtime_component_set_up(wasmtime_context_t* context, const wasinn_guest* guest) {
  if (wasinn_component_raise_limits == nullptr || guest == nullptr) return;
  wasinn_wit_limits limits = {};
  limits.struct_size = sizeof limits;
  wasinn_status_free(wasinn_wit_guest_limits(guest, &limits));  // NULL: its struct_size is set
  const size_t bytes = limits.max_call_bytes < SIZE_MAX ? static_cast<size_t>(limits.max_call_bytes) : SIZE_MAX;
  wasinn_component_raise_limits(context, bytes, size_t{limits.max_handles} + wasinn::wasmtime::kOtherHandles);
}

wasmtime_error_t* wasinn_wasmtime_component_pre_new(const wasmtime_component_linker_t* linker,
                                                    const wasmtime_component_t* component,
                                                    wasinn_wasmtime_component_pre** out) {
  if (wasinn_component_pre_new == nullptr) return wasmtime_error_new(wasinn::wasmtime::kNotServed);
  return wasinn_component_pre_new(linker, component, out);
}

wasmtime_error_t* wasinn_wasmtime_component_pre_instantiate(const wasinn_wasmtime_component_pre* pre,
                                                            wasmtime_context_t* context,
                                                            wasmtime_component_instance_t* out) {
  if (wasinn_component_pre_instantiate == nullptr) return wasmtime_error_new(wasinn::wasmtime::kNotServed);
  return wasinn_component_pre_instantiate(pre, context, out);
}

void wasinn_wasmtime_component_pre_delete(wasinn_wasmtime_component_pre* pre) {
  if (wasinn_component_pre_delete != nullptr) wasinn_component_pre_delete(pre);
}

#ifdef WASMTIME_FEATURE_ASYNC
wasinn_status* wasinn_wasmtime_component_link_async(wasmtime_component_linker_t* linker, wasinn_host*,
                                                    wasinn_wasmtime_async_caller_of caller_of, void* user) {
  if (linker == nullptr || caller_of == nullptr) return wasinn::wasmtime::NeedsMore();
  if (wasinn_component_link_async == nullptr) return wasinn::wasmtime::NotServed();
  const wasinn_component_link_options options = wasinn::wasmtime::Options(nullptr, user);
  wasinn_component_async_options more = {};
  more.struct_size = sizeof more;
  more.caller_of = caller_of;
  more.guest_close = wasinn_guest_close;
  wasmtime_error_t* error = wasinn_component_link_async(linker, &options, &more);
  return error == nullptr ? nullptr : wasinn::wasmtime::ToStatus(error);
}

wasmtime_call_future_t* wasinn_wasmtime_component_pre_instantiate_async(const wasinn_wasmtime_component_pre* pre,
                                                                        wasmtime_context_t* context,
                                                                        wasmtime_component_instance_t* out,
                                                                        wasmtime_error_t** error) {
  if (wasinn_component_pre_instantiate_async != nullptr)
    return wasinn_component_pre_instantiate_async(pre, context, out, error);
  *error = wasmtime_error_new(wasinn::wasmtime::kNotServed);
  return nullptr;
}

wasmtime_call_future_t* wasinn_wasmtime_component_func_call_async(const wasmtime_component_func_t* function,
                                                                  wasmtime_context_t* context,
                                                                  const wasmtime_component_val_t* args, size_t nargs,
                                                                  wasmtime_component_val_t* results, size_t nresults,
                                                                  wasmtime_error_t** error) {
  if (wasinn_component_func_call_async != nullptr)
    return wasinn_component_func_call_async(function, context, args, nargs, results, nresults, error);
  *error = wasmtime_error_new(wasinn::wasmtime::kNotServed);
  return nullptr;
}
#endif

}  // extern "C"

#endif  // WASMTIME_FEATURE_COMPONENT_MODEL
