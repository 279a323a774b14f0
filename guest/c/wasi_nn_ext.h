// wasi_nn_ext.h: what guests in C or C++ may use beyond the six functions of the standard (wasi_nn.h). docs/abi.md
// of wasinn documents them.
//
// Two sets:
// - Functions that WasmEdge added to the module "wasi_ephemeral_nn": run on wasinn and on WasmEdge.
// - wasinn's own module "wasinn_ext_0": run on wasinn alone. The digit is a version: a function never changes.
//
// A guest that includes this imports only what it calls; the conventions of wasi_nn.h hold.
#ifndef WASINN_GUEST_C_WASI_NN_EXT_H_
#define WASINN_GUEST_C_WASI_NN_EXT_H_

#include "wasi_nn.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __wasm32__
#define WASINN_EXT_IMPORT(name) __attribute__((import_module("wasinn_ext_0"), import_name(name), warn_unused_result))
#else
#define WASINN_EXT_IMPORT(name) __attribute__((warn_unused_result))
#endif

// ---- WasmEdge's

// As wasi_nn_load_by_name, with a configuration: a JSON object of keys that the model's framework lets guests set
// (`wasinn backends --verbose` lists them); any other key is WASI_NN_INVALID_ARGUMENT. With a key that says how the
// model is compiled, it is compiled for this guest alone, and its bytes count against the guest's quota; keys of
// contexts leave it the one that all guests share.
wasi_nn_errno wasi_nn_load_by_name_with_config(const char* name, uint32_t name_len, const char* config,
                                               uint32_t config_len, wasi_nn_graph* graph)
    WASI_NN_IMPORT("load_by_name_with_config");

// Gives the graph's handle back. Contexts of it go on; its memory goes with the last of them.
wasi_nn_errno wasi_nn_unload(wasi_nn_graph graph) WASI_NN_IMPORT("unload");

// Gives a context back. A compute of another thread that is running on it ends with an error.
wasi_nn_errno wasi_nn_finalize_execution_context(wasi_nn_context context) WASI_NN_IMPORT("finalize_execution_context");

// Piece by piece what a model generates. WASI_NN_UNSUPPORTED_OPERATION for models that answer all at once.
wasi_nn_errno wasi_nn_compute_single(wasi_nn_context context) WASI_NN_IMPORT("compute_single");
wasi_nn_errno wasi_nn_get_output_single(wasi_nn_context context, uint32_t index, void* buffer, uint32_t buffer_size,
                                        uint32_t* written) WASI_NN_IMPORT("get_output_single");
wasi_nn_errno wasi_nn_fini_single(wasi_nn_context context) WASI_NN_IMPORT("fini_single");

// ---- wasinn's

// What the last error of this guest was, in words: "set_input: invalid_argument: …", 1.5 KiB at most. It stays until the next error: a
// call that succeeds, or finds a buffer too small, leaves it as it is. No terminating 0. As for
// wasi_nn_get_output, a buffer that is too small gets WASI_NN_TOO_LARGE and the size that is needed in *written; so it
// is with all functions here that fill a buffer.
wasi_nn_errno wasinn_last_error(char* buffer, uint32_t buffer_size, uint32_t* written) WASINN_EXT_IMPORT("last_error");

// What a graph takes and gives, as JSON: {"backend": "onnx", "inputs": [{"name": "x", "type": "f32", "shape": [1, -1]},
// …], "outputs": […], "model": {…}}. -1 is a dimension that may be anything, a shape null any rank; "outputs" null:
// only a compute tells them; "model" is what the framework adds, if anything. Types are the true ones, also those that
// wasi_nn.h has no number for.
wasi_nn_errno wasinn_describe(wasi_nn_graph graph, char* buffer, uint32_t buffer_size, uint32_t* written)
    WASINN_EXT_IMPORT("describe");

// As wasi_nn_load, by the name of the model's format in place of a number: "onnx", or any other that the host's backends
// serve. "autodetect" leaves it to the bytes. WASI_NN_INVALID_ENCODING: there is none of this name; wasinn_last_error
// lists those that are known.
wasi_nn_errno wasinn_load_as(const wasi_nn_builder* builders, uint32_t builders_len, const char* format,
                             uint32_t format_len, wasi_nn_target target, wasi_nn_graph* graph)
    WASINN_EXT_IMPORT("load_as");

// As wasi_nn_set_input and wasi_nn_get_output, by the model's own names, or decimal indices.
wasi_nn_errno wasinn_set_input_by_name(wasi_nn_context context, const char* name, uint32_t name_len,
                                       const wasi_nn_tensor* tensor) WASINN_EXT_IMPORT("set_input_by_name");
wasi_nn_errno wasinn_get_output_by_name(wasi_nn_context context, const char* name, uint32_t name_len, void* buffer,
                                        uint32_t buffer_size, uint32_t* written)
    WASINN_EXT_IMPORT("get_output_by_name");

// From now on every compute of this context writes output `index` to `buffer`, and its size to *written: no
// wasi_nn_get_output is needed. Both must stay there; the host keeps their addresses only. A buffer that is too small
// makes compute return WASI_NN_TOO_LARGE, and the output can still be got. Frameworks that can produce only the outputs
// that were set here; the others are not there any more. A NULL buffer only selects the output.
wasi_nn_errno wasinn_set_output(wasi_nn_context context, uint32_t index, void* buffer, uint32_t buffer_size,
                                uint32_t* written) WASINN_EXT_IMPORT("set_output");
wasi_nn_errno wasinn_set_output_by_name(wasi_nn_context context, const char* name, uint32_t name_len, void* buffer,
                                        uint32_t buffer_size, uint32_t* written)
    WASINN_EXT_IMPORT("set_output_by_name");

// An input and an output of wasinn_compute_once: by name, or, where `name` is NULL, by the index that stands in
// name_len.
typedef struct {
  const char* name;
  uint32_t name_len;
  wasi_nn_tensor tensor;
} wasinn_input;
typedef struct {
  const char* name;
  uint32_t name_len;
  void* buffer;
  uint32_t buffer_size;
  uint32_t written;  // the host's: the size of the output, also if the buffer is too small; 0 if it is not known
} wasinn_output;

// An inference in one call: sets these inputs and no others, computes, and writes these outputs and no others. Of tensors of
// 4 KiB and more nothing is copied where the framework can compute on them where they are: its outputs must have fixed shapes,
// memory must not be shared with threads, buffers must not overlap, and addresses be multiples of 64 to suit every framework.
// Nothing is left of it: afterwards no input is set, and there is no output to get. WASI_NN_TOO_LARGE: some buffers are too
// small, whose sizes are in `written`; others may be written or not.
// With a graph in place of a context it computes on a context of its own, which takes some µs more.
wasi_nn_errno wasinn_compute_once(uint32_t context_or_graph, const wasinn_input* inputs, uint32_t inputs_len,
                                  wasinn_output* outputs, uint32_t outputs_len) WASINN_EXT_IMPORT("compute_once");

// What output `output_index` of `from` was computed to be becomes input `index` of `context`, of another model or of the same
// one, or of `from` itself: without a way through this guest's memory, and where the framework gives its outputs away
// without a copy. Type and shape must be what the input takes. The output can still be got, and be an input of others, until the
// next compute of `from`; the input stays what it is when that comes. Both contexts must rest: WASI_NN_BUSY.
wasi_nn_errno wasinn_set_input_from_output(wasi_nn_context context, uint32_t index, wasi_nn_context from,
                                           uint32_t output_index) WASINN_EXT_IMPORT("set_input_from_output");

#ifdef __cplusplus
}
#endif

#endif  // WASINN_GUEST_C_WASI_NN_EXT_H_
