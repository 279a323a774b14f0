// wasi_nn_wamr.h: the import module "wasi_nn", WAMR's first form of wasi-nn.
//
// It is for guests that must also run on older WAMR. New guests use wasi_nn.h. The six functions have the standard's
// names, but three of their structs have another layout:
//
//   wamr_nn_builder part = {model, model_size};
//   wamr_nn_builders parts = {&part, 1};                      // load takes this record's address, and no count
//   ... wamr_nn_load(&parts, WAMR_NN_ENCODING_TENSORFLOWLITE, WASI_NN_TARGET_CPU, &graph)
//   uint32_t dims[] = {1, 8, 8, 1};
//   wamr_nn_dimensions shape = {dims, 4};
//   wamr_nn_tensor in = {&shape, WAMR_NN_F32, {0}, image};    // the number of bytes follows from the shape
//   ... wamr_nn_set_input(context, 0, &in)
//   uint32_t size = sizeof(scores) / sizeof(*scores);
//   ... wamr_nn_get_output(context, 0, scores, &size)         // the room in, the output's size out, both in elements
//
// Types have other numbers, and so have encodings from 5 on. Errors, targets, handles and conventions are those of
// wasi_nn.h.
#ifndef WASINN_GUEST_C_WASI_NN_WAMR_H_
#define WASINN_GUEST_C_WASI_NN_WAMR_H_

#include "wasi_nn.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __wasm32__
#define WAMR_NN_IMPORT(name) __attribute__((import_module("wasi_nn"), import_name(name), warn_unused_result))
#else
#define WAMR_NN_IMPORT(name) __attribute__((warn_unused_result))
#endif

// The format of a model's bytes.
enum {
  WAMR_NN_ENCODING_OPENVINO = 0,
  WAMR_NN_ENCODING_ONNX = 1,
  WAMR_NN_ENCODING_TENSORFLOW = 2,
  WAMR_NN_ENCODING_PYTORCH = 3,
  WAMR_NN_ENCODING_TENSORFLOWLITE = 4,
  WAMR_NN_ENCODING_GGML = 5,
  WAMR_NN_ENCODING_AUTODETECT = 6,
};

// The type of a tensor's elements, with the size of one element in bytes in parentheses.
typedef uint8_t wamr_nn_type;
enum {
  WAMR_NN_F16 = 0,  // (2)
  WAMR_NN_F32 = 1,  // (4)
  WAMR_NN_U8 = 2,   // (1)
  WAMR_NN_I32 = 3,  // (4)
};

// One part of a model, and a model.
typedef struct wamr_nn_builder {
  const void* data;
  uint32_t len;
} wamr_nn_builder;
typedef struct wamr_nn_builders {
  const wamr_nn_builder* parts;
  uint32_t count;
} wamr_nn_builders;

// A shape, outermost dimension first.
typedef struct wamr_nn_dimensions {
  const uint32_t* dims;
  uint32_t rank;
} wamr_nn_dimensions;

typedef struct wamr_nn_tensor {
  const wamr_nn_dimensions* shape;
  wamr_nn_type type;
  uint8_t padding[3];
  const void* data;
} wamr_nn_tensor;

#ifdef __wasm32__
static_assert(sizeof(wamr_nn_builders) == 8 && sizeof(wamr_nn_dimensions) == 8, "the layout of WAMR's records");
static_assert(sizeof(wamr_nn_tensor) == 12, "the layout of WAMR's tensor");
#endif

wasi_nn_errno wamr_nn_load(const wamr_nn_builders* builders, wasi_nn_encoding encoding, wasi_nn_target target,
                           wasi_nn_graph* graph) WAMR_NN_IMPORT("load");
wasi_nn_errno wamr_nn_load_by_name(const char* name, uint32_t name_len, wasi_nn_graph* graph)
    WAMR_NN_IMPORT("load_by_name");
wasi_nn_errno wamr_nn_init_execution_context(wasi_nn_graph graph, wasi_nn_context* context)
    WAMR_NN_IMPORT("init_execution_context");
wasi_nn_errno wamr_nn_set_input(wasi_nn_context context, uint32_t index, const wamr_nn_tensor* tensor)
    WAMR_NN_IMPORT("set_input");
wasi_nn_errno wamr_nn_compute(wasi_nn_context context) WAMR_NN_IMPORT("compute");
// *size counts elements of the output's type (floats, or bytes of text), not bytes. If the buffer is too small, this
// returns WASI_NN_TOO_LARGE, copies nothing, and stores the needed size in *size.
wasi_nn_errno wamr_nn_get_output(wasi_nn_context context, uint32_t index, void* buffer, uint32_t* size)
    WAMR_NN_IMPORT("get_output");

#ifdef __cplusplus
}
#endif

#endif  // WASINN_GUEST_C_WASI_NN_WAMR_H_
