// Exported by component/src/model.rs; component/src/model_abi.rs has the types in Rust. That library may be an older
// one: its functions are weak here.
#pragma once

#include <wasinn/wasinn.h>
#include <wasmtime.h>

#include <cstddef>
#include <cstdint>

extern "C" {

struct wasinn_model_tensor {
  wasinn_bytes name;
  uint32_t datatype;      // the position in wasinn:serve's enum
  const uint64_t* shape;  // int64_t in a description of a model's inputs and outputs
  size_t rank;
  wasinn_bytes data;
};

// Valid until the call returns.
struct wasinn_model_call {
  uint32_t struct_size;
  void* user;
  bool (*is_interrupted)(void* user);
  bool (*charge)(void* user, size_t bytes);  // returns whether this many bytes of an answer may be copied
  size_t most_bytes;                         // about the limit for the whole answer
  const wasinn_model_tensor* inputs;
  size_t n_inputs;
  const wasinn_bytes* outputs;
  size_t n_outputs;
};

// Owns the memory of its members.
struct wasinn_model_answer {
  uint32_t refusal;  // 0: none; 1: invalid-argument; 2: failed
  wasinn_bytes message;
  const wasinn_model_tensor* tensors;  // for `describe`: the inputs, then the outputs
  size_t n_tensors, n_inputs;
};

struct wasinn_component_model;

[[gnu::weak]] wasmtime_error_t* wasinn_component_link_model(wasmtime_component_linker_t*);
[[gnu::weak]] wasmtime_error_t* wasinn_component_model_new(const wasmtime_component_linker_t*,
                                                           const wasmtime_component_t*, wasinn_component_model**);
[[gnu::weak]] void wasinn_component_model_delete(wasinn_component_model*);
[[gnu::weak]] wasmtime_error_t* wasinn_component_model_describe(const wasinn_component_model*, wasmtime_context_t*,
                                                                const wasinn_model_call*, wasinn_model_answer**);
[[gnu::weak]] wasmtime_error_t* wasinn_component_model_infer(const wasinn_component_model*, wasmtime_context_t*,
                                                             const wasinn_model_call*, wasinn_model_answer**);
[[gnu::weak]] void wasinn_component_model_answer_delete(wasinn_model_answer*);

}  // extern "C"
