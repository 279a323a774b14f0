// wasi_nn.h: machine learning for WebAssembly guests written in C or C++.
//
// It has the six functions of the import module "wasi_ephemeral_nn": the witx form of the wasi-nn standard
// (github.com/WebAssembly/wasi-nn, wasi-nn.witx). The host runs the model. The guest passes tensors in and gets tensors
// back:
//
//   wasi_nn_graph graph;
//   wasi_nn_context context;
//   float image[64], scores[10];
//   uint32_t dims[] = {1, 1, 8, 8}, written;
//   ... wasi_nn_load_by_name("digits", 6, &graph)
//   ... wasi_nn_init_execution_context(graph, &context)
//   wasi_nn_tensor in = {dims, 4, WASI_NN_F32, {0}, image, sizeof(image)};
//   ... wasi_nn_set_input(context, 0, &in)
//   ... wasi_nn_compute(context)
//   ... wasi_nn_get_output(context, 0, scores, sizeof(scores), &written)
//
// Conventions
// - Every function returns 0 (WASI_NN_SUCCESS) or an error code. It writes its results only on success;
//   wasi_nn_get_output has one exception.
// - The guest owns all buffers. The host copies inputs before a function returns, so the guest may reuse a buffer at
//   once.
// - Sizes are in bytes, except `dims_len` and `builders_len`, which count elements. Tensors are dense, row-major (the
//   last dimension varies fastest) and little-endian.
// - Pointers need no alignment.
// - Graphs and contexts live until the guest ends: the standard has no function that closes them.
// - One context serves one thread at a time; a second thread gets WASI_NN_BUSY. Different contexts may compute at the
//   same time, also contexts of one graph.
//
// C11 or C++11. On wasm32 the functions are imports. Elsewhere they are plain declarations: natively compiled tests of
// a guest can define the functions themselves.
#ifndef WASINN_GUEST_C_WASI_NN_H_
#define WASINN_GUEST_C_WASI_NN_H_

#include <assert.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __wasm32__
#define WASI_NN_IMPORT(name) __attribute__((import_module("wasi_ephemeral_nn"), import_name(name), warn_unused_result))
#else
#define WASI_NN_IMPORT(name) __attribute__((warn_unused_result))
#endif

// What a function returns ($nn_errno in the standard). Here and below the type is a fixed-width integer, not an enum,
// because a host may use more values than these.
typedef uint32_t wasi_nn_errno;
enum {
  WASI_NN_SUCCESS = 0,
  // A pointer, length, handle or index is not valid. Or the type, dims or size of a tensor do not fit the model's
  // input. Or an input was never set. Or there was no compute before get_output.
  WASI_NN_INVALID_ARGUMENT = 1,
  // The encoding is unknown, or the bytes have another format.
  WASI_NN_INVALID_ENCODING = 2,
  // The module does not export its memory as "memory".
  WASI_NN_MISSING_MEMORY = 3,
  // Another thread is using the context.
  WASI_NN_BUSY = 4,
  // The framework failed, or the host's deadline passed. Or the OS process with the guest's own model ended: then the
  // guest may load the model again.
  WASI_NN_RUNTIME_ERROR = 5,
  // The framework, target or element type is not available here, or the host's policy forbids it.
  WASI_NN_UNSUPPORTED_OPERATION = 6,
  // A quota of the host is exceeded, or the buffer for an output is too small.
  WASI_NN_TOO_LARGE = 7,
  // The host has no model of that name.
  WASI_NN_NOT_FOUND = 8,

  // Not in the standard: hosts with models that generate text return these.
  WASI_NN_END_OF_SEQUENCE = 100,  // the answer is complete
  WASI_NN_CONTEXT_FULL =
      101,  // the model's context window is full, or the deadline has passed: the output so far can be read
  WASI_NN_PROMPT_TOO_LONG = 102,  // the prompt does not fit into the context window
  WASI_NN_MODEL_NOT_FOUND = 103,  // the model's file is missing
};

// The format of a model's bytes ($graph_encoding).
typedef uint32_t wasi_nn_encoding;
enum {
  WASI_NN_ENCODING_OPENVINO = 0,        // two builders: the .xml file, then the .bin file
  WASI_NN_ENCODING_ONNX = 1,            // one builder: the .onnx file
  WASI_NN_ENCODING_TENSORFLOW = 2,      // one builder: a frozen GraphDef
  WASI_NN_ENCODING_PYTORCH = 3,         // one builder: a TorchScript archive
  WASI_NN_ENCODING_TENSORFLOWLITE = 4,  // one builder: the .tflite file
  WASI_NN_ENCODING_AUTODETECT = 5,      // the host looks at the bytes
};

// Where a model shall run ($execution_target).
typedef uint32_t wasi_nn_target;
enum {
  WASI_NN_TARGET_CPU = 0,
  WASI_NN_TARGET_GPU = 1,
  WASI_NN_TARGET_TPU = 2,

  // Not in the standard: the host chooses. wasinn has it.
  WASI_NN_TARGET_AUTO = 3,
};

// The type of a tensor's elements ($tensor_type), with the size of one element in bytes in parentheses.
// The standard has no numbers for other types. wasinn passes those bit for bit: i8 and bool as WASI_NN_U8, u32 as
// WASI_NN_I32, u64 as WASI_NN_I64; i16, u16 and bf16 as WASI_NN_U8 with the last dimension doubled.
typedef uint8_t wasi_nn_type;
enum {
  WASI_NN_F16 = 0,  // (2)
  WASI_NN_F32 = 1,  // (4)
  WASI_NN_F64 = 2,  // (8)
  WASI_NN_U8 = 3,   // (1)
  WASI_NN_I32 = 4,  // (4)
  WASI_NN_I64 = 5,  // (8)
};

// One part of a model: `len` bytes at `data` ($graph_builder).
typedef struct wasi_nn_builder {
  const void* data;
  uint32_t len;
} wasi_nn_builder;

// An input tensor ($tensor).
typedef struct wasi_nn_tensor {
  const uint32_t* dims;  // the shape, outermost dimension first; rank 0 is a scalar
  uint32_t dims_len;     // the rank
  wasi_nn_type type;
  uint8_t reserved[3];  // padding of the standard's layout
  const void* data;
  uint32_t len;  // in bytes: the product of dims, times the element's size
} wasi_nn_tensor;

#ifdef __wasm32__
static_assert(sizeof(wasi_nn_builder) == 8, "the standard's layout of $graph_builder");
static_assert(sizeof(wasi_nn_tensor) == 20, "the standard's layout of $tensor");
#endif

// Handles are plain numbers; the host knows their meaning.
typedef uint32_t wasi_nn_graph;    // a loaded model
typedef uint32_t wasi_nn_context;  // the inputs and outputs of one inference at a time on a graph

// Loads a model from its parts, builders[0 .. builders_len-1], and stores its handle in *graph. The guest may free the
// bytes afterwards. A host may refuse all models from guests (WASI_NN_UNSUPPORTED_OPERATION).
wasi_nn_errno wasi_nn_load(const wasi_nn_builder* builders, uint32_t builders_len, wasi_nn_encoding encoding,
                           wasi_nn_target target, wasi_nn_graph* graph) WASI_NN_IMPORT("load");

// Gets a model that the host offers, and stores its handle in *graph. `name` is UTF-8 of `name_len` bytes; it needs no
// terminating 0. This is cheap: the host loads such a model once for all its guests.
wasi_nn_errno wasi_nn_load_by_name(const char* name, uint32_t name_len, wasi_nn_graph* graph)
    WASI_NN_IMPORT("load_by_name");

// Makes a context for inferences on `graph`, and stores its handle in *context. Use it for many inferences: to make a
// context costs much more than one compute.
wasi_nn_errno wasi_nn_init_execution_context(wasi_nn_graph graph, wasi_nn_context* context)
    WASI_NN_IMPORT("init_execution_context");

// Sets input `index`, counted from 0 in the model's order. The host copies the bytes. An input keeps its value until it
// is set again, over any number of computes.
wasi_nn_errno wasi_nn_set_input(wasi_nn_context context, uint32_t index, const wasi_nn_tensor* tensor)
    WASI_NN_IMPORT("set_input");

// Runs the model. Returns when the outputs are ready.
wasi_nn_errno wasi_nn_compute(wasi_nn_context context) WASI_NN_IMPORT("compute");

// Copies output `index` of the last compute to `buffer`, and stores the output's size in bytes in *written. `index`
// counts from 0 in the model's order. `buffer` has room for `buffer_size` bytes.
// If the buffer is too small, this returns WASI_NN_TOO_LARGE, copies nothing, and stores the needed size in *written.
// wasinn, WasmEdge and some backends of WAMR do so. The standard does not demand it, so set *written to 0 before.
wasi_nn_errno wasi_nn_get_output(wasi_nn_context context, uint32_t index, void* buffer, uint32_t buffer_size,
                                 uint32_t* written) WASI_NN_IMPORT("get_output");

// The name of an error code, as the standard writes it.
static inline const char* wasi_nn_errno_name(wasi_nn_errno code) {
  switch (code) {
    case WASI_NN_SUCCESS:
      return "success";
    case WASI_NN_INVALID_ARGUMENT:
      return "invalid_argument";
    case WASI_NN_INVALID_ENCODING:
      return "invalid_encoding";
    case WASI_NN_MISSING_MEMORY:
      return "missing_memory";
    case WASI_NN_BUSY:
      return "busy";
    case WASI_NN_RUNTIME_ERROR:
      return "runtime_error";
    case WASI_NN_UNSUPPORTED_OPERATION:
      return "unsupported_operation";
    case WASI_NN_TOO_LARGE:
      return "too_large";
    case WASI_NN_NOT_FOUND:
      return "not_found";
    case WASI_NN_END_OF_SEQUENCE:
      return "end_of_sequence";
    case WASI_NN_CONTEXT_FULL:
      return "context_full";
    case WASI_NN_PROMPT_TOO_LONG:
      return "prompt_too_long";
    case WASI_NN_MODEL_NOT_FOUND:
      return "model_not_found";
    default:
      return "unknown error";
  }
}

#ifdef __cplusplus
}
#endif

#endif  // WASINN_GUEST_C_WASI_NN_H_
