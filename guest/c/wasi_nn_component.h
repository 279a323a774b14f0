// wasi_nn_component.h: machine learning for WebAssembly components written in C or C++.
//
// It has wasi:nn 0.2.0-rc-2024-10-28, the component form of the wasi-nn standard (guest/wit/deps/wasi-nn), in the
// layout of the canonical ABI. So a guest needs no bindings generator. The host runs the model. The guest passes
// tensors in and gets tensors back:
//
//   wasi_nn_result graph, context;
//   wasi_nn_outputs outputs;
//   ... wasi_nn_load_by_name("digits", 6, &graph)             graph.is_error: graph.handle is a wasi_nn_error
//   ... wasi_nn_init_execution_context(graph.handle, &context)
//   float image[64];
//   uint32_t dims[] = {1, 1, 8, 8};
//   wasi_nn_named_tensor in = {"image", 5, wasi_nn_tensor_new(dims, 4, WASI_NN_FP32, image, sizeof(image))};
//   ... wasi_nn_compute(context.handle, &in, 1, &outputs)       likewise: outputs.error
//   wasi_nn_list scores;
//   wasi_nn_tensor_data(outputs.list.items[0].tensor, &scores)   float[scores.count / 4] at scores.items
//   wasi_nn_list_free(&scores), wasi_nn_outputs_free(&outputs)
//
// Such a program becomes a component in three steps (docs/components.md): compile it and link it with
// wasi_nn_component_start.c and -nostartfiles; `embed` the world; `new` with the adapter of preview 1.
//
// Conventions
// - Handles are small numbers. The guest owns a handle until it drops it or gives it away. wasi_nn_compute takes the
//   tensors of its inputs, even if it fails. A dropped or given handle must not be used or dropped again: the guest
//   would trap.
// - Handles may be dropped in any order. A context keeps its graph alive, and an output outlives both.
// - The host copies all arguments before a function returns. The guest owns the lists that it returns, made by malloc.
//
// C11 or C++11.
#ifndef WASINN_GUEST_C_WASI_NN_COMPONENT_H_
#define WASINN_GUEST_C_WASI_NN_COMPONENT_H_

#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

// A guest may define an older version here. It gets the functions that have not changed: all but wasi_nn_compute.
#ifndef WASI_NN_VERSION
#define WASI_NN_VERSION "@0.2.0-rc-2024-10-28"
#endif
#define WASI_NN_IMPORT(interface, name) \
  __attribute__((import_module("wasi:nn/" interface WASI_NN_VERSION), import_name(name)))

typedef uint32_t wasi_nn_tensor;
typedef uint32_t wasi_nn_graph;
typedef uint32_t wasi_nn_context;
typedef uint32_t wasi_nn_error;

// The type of a tensor's elements, with the size of one element in bytes in parentheses.
typedef uint32_t wasi_nn_type;
enum {
  WASI_NN_FP16 = 0,  // (2)
  WASI_NN_FP32 = 1,  // (4)
  WASI_NN_FP64 = 2,  // (8)
  WASI_NN_BF16 = 3,  // (2)
  WASI_NN_U8 = 4,    // (1)
  WASI_NN_I32 = 5,   // (4)
  WASI_NN_I64 = 6,   // (8)
};

// The format of a model's bytes.
typedef uint32_t wasi_nn_encoding;
enum {
  WASI_NN_ENCODING_OPENVINO = 0,  // two builders: the .xml file, then the .bin file; all others have one
  WASI_NN_ENCODING_ONNX = 1,
  WASI_NN_ENCODING_TENSORFLOW = 2,
  WASI_NN_ENCODING_PYTORCH = 3,
  WASI_NN_ENCODING_TENSORFLOWLITE = 4,
  WASI_NN_ENCODING_GGML = 5,
  WASI_NN_ENCODING_AUTODETECT = 6,
};

// Where a model shall run.
typedef uint32_t wasi_nn_target;
enum { WASI_NN_TARGET_CPU = 0, WASI_NN_TARGET_GPU = 1, WASI_NN_TARGET_TPU = 2 };

// What went wrong (wasi_nn_error_code).
enum {
  WASI_NN_INVALID_ARGUMENT = 0,       // a shape, type, size or name does not fit the model
  WASI_NN_INVALID_ENCODING = 1,       // the bytes are not a model of that encoding
  WASI_NN_TIMEOUT = 2,                // the host's deadline passed
  WASI_NN_RUNTIME_ERROR = 3,          // the framework failed
  WASI_NN_UNSUPPORTED_OPERATION = 4,  // the framework, target or element type is not available here
  WASI_NN_TOO_LARGE = 5,              // a quota of the host is exceeded
  WASI_NN_NOT_FOUND = 6,              // the host has no model of that name
  WASI_NN_SECURITY = 7,               // the host's policy forbids it
  WASI_NN_UNKNOWN = 8,
};

// A list from the host: bytes, uint32_t or char (UTF-8, no NUL at its end).
typedef struct wasi_nn_list {
  void* items;
  size_t count;
} wasi_nn_list;

// One part of a model.
typedef struct wasi_nn_builder {
  const void* data;
  size_t size;
} wasi_nn_builder;

// An input or output: its name in the model (UTF-8, no NUL needed) and its tensor.
typedef struct wasi_nn_named_tensor {
  const char* name;
  size_t name_size;
  wasi_nn_tensor tensor;
} wasi_nn_named_tensor;

typedef struct wasi_nn_result {
  uint8_t is_error;
  uint32_t handle;  // the new graph or context, or a wasi_nn_error
} wasi_nn_result;

typedef struct wasi_nn_outputs {
  uint8_t is_error;
  union {
    struct {
      wasi_nn_named_tensor* items;
      size_t count;
    } list;
    wasi_nn_error error;
  };
} wasi_nn_outputs;

// Makes a tensor. The host copies the bytes. Never fails: compute returns an error if `size` does not fit the shape.
wasi_nn_tensor wasi_nn_tensor_new(const uint32_t* dims, size_t rank, wasi_nn_type type, const void* data, size_t size)
    WASI_NN_IMPORT("tensor", "[constructor]tensor");
// The shape as a list of uint32_t, and the elements as a list of bytes. Free the lists afterwards.
void wasi_nn_tensor_dimensions(wasi_nn_tensor tensor, wasi_nn_list* dims)
    WASI_NN_IMPORT("tensor", "[method]tensor.dimensions");
void wasi_nn_tensor_data(wasi_nn_tensor tensor, wasi_nn_list* bytes) WASI_NN_IMPORT("tensor", "[method]tensor.data");
wasi_nn_type wasi_nn_tensor_type(wasi_nn_tensor tensor) WASI_NN_IMPORT("tensor", "[method]tensor.ty");
void wasi_nn_tensor_drop(wasi_nn_tensor tensor) WASI_NN_IMPORT("tensor", "[resource-drop]tensor");

// Loads a model from the guest's bytes. A host may refuse all models from guests (WASI_NN_SECURITY).
void wasi_nn_load(const wasi_nn_builder* builders, size_t count, wasi_nn_encoding encoding, wasi_nn_target target,
                  wasi_nn_result* graph) WASI_NN_IMPORT("graph", "load");
// Gets a model that the host offers under a name. This is cheap: the host loads it once for all its guests.
void wasi_nn_load_by_name(const char* name, size_t size, wasi_nn_result* graph) WASI_NN_IMPORT("graph", "load-by-name");
// Makes a context for inferences on the model. Use it for many: to make a context costs much more than one compute.
void wasi_nn_init_execution_context(wasi_nn_graph graph, wasi_nn_result* context)
    WASI_NN_IMPORT("graph", "[method]graph.init-execution-context");
void wasi_nn_graph_drop(wasi_nn_graph graph) WASI_NN_IMPORT("graph", "[resource-drop]graph");

// Runs the model on these inputs, and takes their tensors. Free the outputs afterwards.
void wasi_nn_compute(wasi_nn_context context, const wasi_nn_named_tensor* inputs, size_t count,
                     wasi_nn_outputs* outputs) WASI_NN_IMPORT("inference", "[method]graph-execution-context.compute");
void wasi_nn_context_drop(wasi_nn_context context)
    WASI_NN_IMPORT("inference", "[resource-drop]graph-execution-context");

// The error's code, one of those above, and its message. Free the message's list afterwards.
uint32_t wasi_nn_error_code(wasi_nn_error error) WASI_NN_IMPORT("errors", "[method]error.code");
void wasi_nn_error_data(wasi_nn_error error, wasi_nn_list* text) WASI_NN_IMPORT("errors", "[method]error.data");
void wasi_nn_error_drop(wasi_nn_error error) WASI_NN_IMPORT("errors", "[resource-drop]error");

// An empty list has no memory: its pointer is not valid.
static inline void wasi_nn_list_free(wasi_nn_list* list) {
  if (list->count > 0) free(list->items);
  list->count = 0;
}

// Drops the outputs' tensors and frees the lists. If a tensor was given away or dropped, set its `tensor` to 0 before.
static inline void wasi_nn_outputs_free(wasi_nn_outputs* outputs) {
  if (outputs->is_error) {
    wasi_nn_error_drop(outputs->error);
    return;
  }
  for (size_t i = 0; i < outputs->list.count; ++i) {
    wasi_nn_named_tensor* item = &outputs->list.items[i];
    if (item->name_size > 0) free((void*)item->name);
    if (item->tensor != 0) wasi_nn_tensor_drop(item->tensor);
  }
  if (outputs->list.count > 0) free(outputs->list.items);
  outputs->list.count = 0;
}

#ifdef __cplusplus
}
#endif

#endif  // WASINN_GUEST_C_WASI_NN_COMPONENT_H_
