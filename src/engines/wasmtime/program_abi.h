// Exported by component/src/program.rs, with the types in Rust. Weak, because the library may be an older one.
#pragma once

#include <wasinn/wasinn.h>
#include <wasmtime.h>

#include <cstddef>
#include <cstdint>

extern "C" {

struct wasinn_component_program;

// Valid until the call returns. All functions are called on its thread.
struct wasinn_program_call {
  uint32_t struct_size;
  void* user;
  const wasinn_bytes* words;  // the parameters of an invoked function
  size_t n_words;
  void (*print)(void* user, wasinn_bytes line);  // gets its result
  bool (*is_interrupted)(void* user);            // called while a program with wasi:http or WASI 0.3 waits
  bool (*allows)(void* user, wasinn_bytes scheme, wasinn_bytes authority);  // NULL: the guest sends no requests
};

// `invoke`: the function that runs, or empty. `has_http`: the linker is from wasinn_component_link_http.
[[gnu::weak]] wasmtime_error_t* wasinn_component_program_new(const wasmtime_component_linker_t*,
                                                             const wasmtime_component_t*, wasinn_bytes invoke,
                                                             bool has_http, wasinn_component_program**);
// The same, for a linker from wasinn_component_link_wasi03.
[[gnu::weak]] wasmtime_error_t* wasinn_component_program_new_async(const wasmtime_component_linker_t*,
                                                                   const wasmtime_component_t*, wasinn_bytes invoke,
                                                                   wasinn_component_program**);
[[gnu::weak]] void wasinn_component_program_delete(wasinn_component_program*);
// Runs in a new store with WASI. An error is a trap, or why the guest did not begin; `succeeded`: the program's result.
[[gnu::weak]] wasmtime_error_t* wasinn_component_program_run(const wasinn_component_program*, wasmtime_context_t*,
                                                             const wasinn_program_call*, bool* succeeded);

}  // extern "C"
