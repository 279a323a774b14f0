// Exported by component/src/handler.rs, service.rs, exchange.rs and http_state.rs. Weak, because this program's Wasmtime may be
// another one: then all of them are NULL.
#pragma once

#include <wasi.h>
#include <wasinn/wasinn.h>
#include <wasmtime.h>

#include <cstddef>
#include <cstdint>

extern "C" {

struct wasinn_component_handler;

struct wasinn_http_field {
  wasinn_bytes name, value;
};

struct wasinn_http_request {
  uint32_t struct_size;
  wasinn_bytes method, scheme, authority, path_with_query;
  const wasinn_http_field* fields;
  size_t n_fields;
  wasinn_bytes body;  // not copied: it outlives the store
};

// Called on the thread of wasinn_component_handle. False: no more of the answer is wanted.
struct wasinn_http_answer {
  uint32_t struct_size;
  void* user;
  bool (*begin)(void* user, uint32_t status, const wasinn_http_field* fields, size_t n_fields);
  bool (*write)(void* user, wasinn_bytes bytes);
  void (*fail)(void* user, wasinn_bytes why);
  void (*refuse)(void* user, wasinn_bytes why);
  bool (*is_interrupted)(void* user);  // in a service: whether this answer is wanted no more
  bool (*allows)(void* user, wasinn_bytes scheme, wasinn_bytes authority);  // NULL: the guest sends no requests
};

// WASI preview 2 and wasi:http, whose functions wait without a thread, instead of wasmtime_component_linker_add_wasip2.
[[gnu::weak]] wasmtime_error_t* wasinn_component_link_http(wasmtime_component_linker_t*);
// WASI 0.2 and 0.3, for an engine with asynchronous functions; with wasi:http of both versions if `has_http`.
[[gnu::weak]] wasmtime_error_t* wasinn_component_link_wasi03(wasmtime_component_linker_t*, bool has_http);
// Guests get no sockets, each of which would be an open file.
[[gnu::weak]] void wasinn_wasi_config_forbid_sockets(wasi_config_t*);
// For a component that exports wasi:http/handler@0.3 or wasi:http/incoming-handler@0.2.
[[gnu::weak]] wasmtime_error_t* wasinn_component_handler_new(const wasmtime_component_linker_t*,
                                                             const wasmtime_component_t*, wasinn_component_handler**);
[[gnu::weak]] void wasinn_component_handler_delete(wasinn_component_handler*);
// Runs in a new store with WASI. An error is a trap, or the reason why the guest did not begin.
[[gnu::weak]] wasmtime_error_t* wasinn_component_handle(const wasinn_component_handler*, wasmtime_context_t*,
                                                        const wasinn_http_request*, const wasinn_http_answer*,
                                                        bool* is_whole);

// An instance that answers several requests.
struct wasinn_component_service;

struct wasinn_http_service_options {
  uint32_t struct_size;
  uint64_t fuel;  // for one request; 0: it is not counted. The first one has what the store has
  void* user;
  bool (*is_interrupted)(void* user);                                       // called on the thread that drives
  bool (*allows)(void* user, wasinn_bytes scheme, wasinn_bytes authority);  // NULL: the guest sends no requests
};

[[gnu::weak]] bool wasinn_component_handler_may_stay(const wasinn_component_handler*);
// In a new store with WASI, which outlives it. Runs nothing yet.
[[gnu::weak]] wasmtime_error_t* wasinn_component_service_new(const wasinn_component_handler*, wasmtime_context_t*,
                                                             const wasinn_http_service_options*,
                                                             wasinn_component_service**);
[[gnu::weak]] void wasinn_component_service_delete(wasinn_component_service*);
// Any thread. The request's body and the answer's functions are valid until `end` is called, on the thread that drives,
// or until _drive has returned an error. `is_begun` becomes true, on the thread that drives, if the guest may see it.
// False: the answer was given the reason, and nothing follows.
[[gnu::weak]] bool wasinn_component_service_begin(const wasinn_component_service*, const wasinn_http_request*,
                                                  const wasinn_http_answer*, void (*end)(void* user, bool is_whole),
                                                  bool* is_begun);
// One thread at a time. Runs the guest until any request ends. An error: the instance has ended, and all requests with it.
[[gnu::weak]] wasmtime_error_t* wasinn_component_service_drive(const wasinn_component_service*);

}  // extern "C"
