// wasinn/wasmtime.hpp - wasmtime.h for C++17: the same functions with a Status. Header-only.
#ifndef WASINN_WASMTIME_HPP_
#define WASINN_WASMTIME_HPP_

#include <wasinn/wasmtime.h>
#include <wasinn/wasinn.hpp>

namespace wasinn::wasmtime {

// As wasinn_wasmtime_link: `guest_of` finds the guest of each call. The host and `user` must outlive the linker.
inline Status Link(wasmtime_linker_t* linker, const Host& host, wasinn_wasmtime_guest_of guest_of,
                   void* user = nullptr) {
  return Status(wasinn_wasmtime_link(linker, host.get(), guest_of, user));
}
// As wasinn_wasmtime_link_callers, for programs that know a guest's memory: calls are much faster.
inline Status LinkCallers(wasmtime_linker_t* linker, const Host& host, wasinn_wasmtime_caller_of caller_of,
                          void* user = nullptr) {
  return Status(wasinn_wasmtime_link_callers(linker, host.get(), caller_of, user));
}
// Every call belongs to `guest`, which must outlive the linker.
inline Status LinkGuest(wasmtime_linker_t* linker, const Guest& guest) {
  return Status(wasinn_wasmtime_link_guest(linker, guest.get()));
}

#ifdef WASMTIME_FEATURE_ASYNC
// As wasinn_wasmtime_link_async, for guests that run in wasmtime_func_call_async.
inline Status LinkAsync(wasmtime_linker_t* linker, const Host& host, wasinn_wasmtime_async_caller_of caller_of,
                        void* user = nullptr) {
  return Status(wasinn_wasmtime_link_async(linker, host.get(), caller_of, user));
}
#endif

#ifdef WASMTIME_FEATURE_COMPONENT_MODEL
// The same for components.
inline Status Link(wasmtime_component_linker_t* linker, const Host& host, wasinn_wasmtime_guest_of guest_of,
                   void* user = nullptr) {
  return Status(wasinn_wasmtime_component_link(linker, host.get(), guest_of, user));
}
inline Status LinkGuest(wasmtime_component_linker_t* linker, const Guest& guest) {
  return Status(wasinn_wasmtime_component_link_guest(linker, guest.get()));
}
// For each store of a component: raises Wasmtime's own guards to the guest's limits.
inline void SetUp(wasmtime_context_t* context, const Guest& guest) {
  wasinn_wasmtime_component_set_up(context, guest.get());
}
#ifdef WASMTIME_FEATURE_ASYNC
inline Status LinkAsync(wasmtime_component_linker_t* linker, const Host& host,
                        wasinn_wasmtime_async_caller_of caller_of, void* user = nullptr) {
  return Status(wasinn_wasmtime_component_link_async(linker, host.get(), caller_of, user));
}
#endif
#endif

}  // namespace wasinn::wasmtime

#endif  // WASINN_WASMTIME_HPP_
