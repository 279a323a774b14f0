// wasi_nn_ext.h: functions for guests in C or C++ beyond the standard's six (wasi_nn.h). wasinn's docs/abi.md documents
// them.
//
// There are two sets:
// - WasmEdge's additions to the module "wasi_ephemeral_nn". They run on wasinn and on WasmEdge.
// - wasinn's module "wasinn_ext_0". It runs on wasinn only. The digit is a version: a function never changes.
//
// A guest imports only the functions that it calls. The conventions of wasi_nn.h hold.
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

// ---- WasmEdge's functions

// As wasi_nn_load_by_name, with a configuration. `config` is a JSON object. `wasinn backends --verbose` lists the keys
// that guests may set; any other key is WASI_NN_INVALID_ARGUMENT. Some keys change how the model is compiled: the host
// then compiles it only for this guest, and its bytes count against the guest's quota. With keys of contexts the guest
// uses the model that all guests share.
wasi_nn_errno wasi_nn_load_by_name_with_config(const char* name, uint32_t name_len, const char* config,
                                               uint32_t config_len, wasi_nn_graph* graph)
    WASI_NN_IMPORT("load_by_name_with_config");

// Frees the graph's handle. Contexts of the graph still work. Its memory is freed with the last of them.
wasi_nn_errno wasi_nn_unload(wasi_nn_graph graph) WASI_NN_IMPORT("unload");

// Frees a context. If another thread is computing on it, that compute ends with an error.
wasi_nn_errno wasi_nn_finalize_execution_context(wasi_nn_context context) WASI_NN_IMPORT("finalize_execution_context");

// For models that generate their output piece by piece. compute_single produces the next piece, get_output_single
// copies it, fini_single ends the generation. WASI_NN_UNSUPPORTED_OPERATION for any other model.
wasi_nn_errno wasi_nn_compute_single(wasi_nn_context context) WASI_NN_IMPORT("compute_single");
wasi_nn_errno wasi_nn_get_output_single(wasi_nn_context context, uint32_t index, void* buffer, uint32_t buffer_size,
                                        uint32_t* written) WASI_NN_IMPORT("get_output_single");
wasi_nn_errno wasi_nn_fini_single(wasi_nn_context context) WASI_NN_IMPORT("fini_single");

// ---- wasinn's functions
//
// Those that fill a buffer do as wasi_nn_get_output: if the buffer is too small, they return WASI_NN_TOO_LARGE and
// store the needed size in *written.

// The message of the guest's last error: "set_input: invalid_argument: …", 1.5 KiB at most, without a terminating 0. It
// stays until the next error. A call that succeeds does not change it, nor does a buffer that is too small.
wasi_nn_errno wasinn_last_error(char* buffer, uint32_t buffer_size, uint32_t* written) WASINN_EXT_IMPORT("last_error");

// The inputs and outputs of a graph, as JSON: {"backend": "onnx", "inputs": [{"name": "x", "type": "f32",
// "shape": [1, -1]}, …], "outputs": […], "model": {…}}. A dimension of -1 may be any number. A shape null may be any
// shape. "outputs" null: they are known only after a compute. "model" is what the framework adds, if anything. The
// types are the model's own, even if wasi_nn.h has no number for them.
wasi_nn_errno wasinn_describe(wasi_nn_graph graph, char* buffer, uint32_t buffer_size, uint32_t* written)
    WASINN_EXT_IMPORT("describe");

// As wasi_nn_load, with the name of the format in place of its number: "onnx", or any other format of the host's
// backends. "autodetect": the host looks at the bytes. WASI_NN_INVALID_ENCODING: the name is unknown; wasinn_last_error
// lists the known ones.
wasi_nn_errno wasinn_load_as(const wasi_nn_builder* builders, uint32_t builders_len, const char* format,
                             uint32_t format_len, wasi_nn_target target, wasi_nn_graph* graph)
    WASINN_EXT_IMPORT("load_as");

// As wasi_nn_set_input and wasi_nn_get_output, with a name in place of the index: the model's own, or a decimal number.
wasi_nn_errno wasinn_set_input_by_name(wasi_nn_context context, const char* name, uint32_t name_len,
                                       const wasi_nn_tensor* tensor) WASINN_EXT_IMPORT("set_input_by_name");
wasi_nn_errno wasinn_get_output_by_name(wasi_nn_context context, const char* name, uint32_t name_len, void* buffer,
                                        uint32_t buffer_size, uint32_t* written)
    WASINN_EXT_IMPORT("get_output_by_name");

// From now on every compute of this context writes output `index` to `buffer` and its size to *written, so
// wasi_nn_get_output is not needed. Both must stay in place: the host keeps their addresses only. If the buffer is too
// small, compute returns WASI_NN_TOO_LARGE, and wasi_nn_get_output still works. From now on only the outputs that were
// set are there; a framework that can leaves out the others. A NULL buffer only selects the output.
wasi_nn_errno wasinn_set_output(wasi_nn_context context, uint32_t index, void* buffer, uint32_t buffer_size,
                                uint32_t* written) WASINN_EXT_IMPORT("set_output");
wasi_nn_errno wasinn_set_output_by_name(wasi_nn_context context, const char* name, uint32_t name_len, void* buffer,
                                        uint32_t buffer_size, uint32_t* written)
    WASINN_EXT_IMPORT("set_output_by_name");

// An input and an output of wasinn_compute_once, by name. If `name` is NULL, name_len is the index.
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
  uint32_t written;  // the host writes the output's size, even if the buffer is too small; 0: not known
} wasinn_output;

// An inference in one call. It sets only these inputs, computes, and writes only these outputs. Afterwards no input is
// set, and there is no output to get. With a graph in place of a context it makes a context for the call, which takes
// some µs more.
// Tensors of 4 KiB and more are not copied if the framework can use the guest's buffers. Conditions: outputs have fixed
// shapes, memory is not shared with threads, buffers do not overlap, and addresses are multiples of 64 (some frameworks
// need less).
// WASI_NN_TOO_LARGE: some buffers are too small; `written` has their needed sizes. The other buffers may be written or
// not.
wasi_nn_errno wasinn_compute_once(uint32_t context_or_graph, const wasinn_input* inputs, uint32_t inputs_len,
                                  wasinn_output* outputs, uint32_t outputs_len) WASINN_EXT_IMPORT("compute_once");

// Computes that overlap, for guests without threads. wasinn_compute_begin returns at once; the context is WASI_NN_BUSY
// from then on, until wasinn_compute_poll has returned the end of the compute.
// - poll: WASI_NN_BUSY: it goes on. Else, once, what wasi_nn_compute would have returned; outputs of wasinn_set_output
//   are written by this call.
// - cancel: it ends soon, with an error. Poll it; then the context can be used again.
// - wait: until one of the computes has ended. *index is its place in `contexts`: poll that context. WASI_NN_BUSY: none
//   has ended after timeout_ms. Only one thread at a time may wait for a compute.
#define WASINN_FOR_EVER UINT32_MAX
wasi_nn_errno wasinn_compute_begin(wasi_nn_context context) WASINN_EXT_IMPORT("compute_begin");
wasi_nn_errno wasinn_compute_poll(wasi_nn_context context) WASINN_EXT_IMPORT("compute_poll");
wasi_nn_errno wasinn_compute_cancel(wasi_nn_context context) WASINN_EXT_IMPORT("compute_cancel");
wasi_nn_errno wasinn_compute_wait(const wasi_nn_context* contexts, uint32_t contexts_len, uint32_t timeout_ms,
                                  uint32_t* index) WASINN_EXT_IMPORT("compute_wait");

// Makes output `output_index` of `from` input `index` of `context`. The two contexts may be of different models, of the
// same model, or the same context. The tensor does not pass through the guest's memory. It is not even copied if the
// framework can give its outputs away. Its type and shape must fit the input. The output may still be read, or become
// another input, until the next compute of `from`; the input keeps its value after that. WASI_NN_BUSY: one of the
// contexts is in use.
wasi_nn_errno wasinn_set_input_from_output(wasi_nn_context context, uint32_t index, wasi_nn_context from,
                                           uint32_t output_index) WASINN_EXT_IMPORT("set_input_from_output");

#ifdef __cplusplus
}
#endif

#endif  // WASINN_GUEST_C_WASI_NN_EXT_H_
