// What component/src/program.rs exports, and lies there as Rust sees it. That library may be an older one: its functions are weak here.
#pragma once

#include <wasinn/wasinn.h>
#include <wasmtime.h>

#include <cstddef>
#include <cstdint>

extern "C" {

struct wasinn_component_program;

// Valid until the call returns, on whose thread all are called.
struct wasinn_program_call {
  uint32_t struct_size;
  void* user;
  const wasinn_bytes* words;  // of an invoked function's parameters
  size_t n_words;
  void (*print)(void* user, wasinn_bytes line);  // its result
  bool (*is_interrupted)(void* user);            // asked while a program with wasi:http waits
  bool (*allows)(void* user, wasinn_bytes scheme, wasinn_bytes authority);  // NULL: the guest sends no requests
};

// `invoke`: what runs in place of the program; of size 0: none. `has_http`: the linker is of wasinn_component_link_http.
[[gnu::weak]] wasmtime_error_t* wasinn_component_program_new(const wasmtime_component_linker_t*,
                                                             const wasmtime_component_t*, wasinn_bytes invoke,
                                                             bool has_http, wasinn_component_program**);
[[gnu::weak]] void wasinn_component_program_delete(wasinn_component_program*);
// In a store that is new and has WASI. An error is a trap, or why the guest did not begin; `succeeded` is what the program says of itself.
[[gnu::weak]] wasmtime_error_t* wasinn_component_program_run(const wasinn_component_program*, wasmtime_context_t*,
                                                             const wasinn_program_call*, bool* succeeded);

}  // extern "C"
