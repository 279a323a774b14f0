// The module wasinn_ext_0: formats, inputs and outputs by name, outputs written by compute, all of it in one call.
#include <string.h>
#include <wasi_nn_ext.h>

#include "interface.h"

static const uint8_t kTypes[] = {WASI_NN_F32, WASI_NN_U8};
// Errors that this file finds itself.
enum { kNotDescribed = 900, kNotTheSame };

_Static_assert(sizeof(NnPart) == sizeof(wasi_nn_builder), "one layout");

uint32_t NnLoadByName(const char* name, uint32_t* graph) {
  return wasi_nn_load_by_name(name, (uint32_t)strlen(name), graph);
}

uint32_t NnLoad(const NnPart* parts, uint32_t count, uint32_t encoding, uint32_t* graph) {
  static const char* const kNames[] = {"openvino",       "onnx",       "tensorflow", "pytorch",
                                       "tensorflowlite", "autodetect", "ggml"};
  const char* name = encoding < sizeof(kNames) / sizeof(*kNames) ? kNames[encoding] : "unknown";
  return wasinn_load_as((const wasi_nn_builder*)parts, count, name, (uint32_t)strlen(name), WASI_NN_TARGET_CPU, graph);
}

// The graph of the last context.
static wasi_nn_graph g_graph;

uint32_t NnInit(uint32_t graph, uint32_t* context) {
  static char text[1 << 16];
  static const char kBegin[] = "{\"backend\":\"";
  uint32_t written = 0;
  const wasi_nn_errno error = wasinn_describe(graph, text, sizeof(text), &written);
  if (error != WASI_NN_SUCCESS) return error;
  if (written < sizeof(kBegin) || memcmp(text, kBegin, sizeof(kBegin) - 1) != 0) return kNotDescribed;
  g_graph = graph;
  return wasi_nn_init_execution_context(graph, context);
}

// The results are those of `expected`, whether or not tensors may be computed on in place.
static uint32_t in_one_call(const NnInput* input, const char* name, const void* expected, uint32_t size) {
  static _Alignas(64) uint8_t memory[1 << 20];
  enum { kHalf = sizeof(memory) / 2 };
  if (input->size > kHalf - 64 || size > kHalf - 128) return 0;
  for (uint32_t skew = 0; skew <= 8; skew += 8) {
    uint8_t *const data = memory + skew, *const buffer = memory + kHalf + skew;
    memcpy(data, input->data, input->size);
    const wasinn_input given = {input->name,
                                (uint32_t)strlen(input->name),
                                {input->dims, input->rank, kTypes[input->type], {0}, data, input->size}};
    wasinn_output wanted = {name, (uint32_t)strlen(name), buffer, size, 0};
    const wasi_nn_errno error = wasinn_compute_once(g_graph, &given, 1, &wanted, 1);
    if (error != WASI_NN_SUCCESS) return error;
    if (wanted.written != size || memcmp(buffer, expected, size) != 0) return kNotTheSame;
  }
  return 0;
}

// In three calls. The output is written by the last one.
static wasi_nn_errno compute(wasi_nn_context context) {
  uint32_t index = 1;
  wasi_nn_errno error = wasinn_compute_begin(context);
  if (error == WASI_NN_SUCCESS) error = wasinn_compute_wait(&context, 1, WASINN_FOR_EVER, &index);
  if (error == WASI_NN_SUCCESS) error = wasinn_compute_poll(context);
  return error == WASI_NN_SUCCESS && index != 0 ? kNotTheSame : error;
}

uint32_t NnInfer(uint32_t context, const NnInput* input, const char* output, void* buffer, uint32_t room,
                 uint32_t* written) {
  static uint8_t again[1 << 16];
  const uint32_t output_size = (uint32_t)strlen(output);
  const wasi_nn_tensor tensor = {input->dims, input->rank, kTypes[input->type], {0}, input->data, input->size};
  wasi_nn_errno error = wasinn_set_output_by_name(context, output, output_size, buffer, room, written);
  if (error == WASI_NN_SUCCESS) {
    error = wasinn_set_input_by_name(context, input->name, (uint32_t)strlen(input->name), &tensor);
  }
  if (error == WASI_NN_SUCCESS) error = compute(context);
  if (error != WASI_NN_SUCCESS) return error;
  uint32_t size = 0;
  error = wasinn_get_output_by_name(context, output, output_size, again, sizeof(again), &size);
  if (error != WASI_NN_SUCCESS) return error;
  if (size != *written || memcmp(again, buffer, size) != 0) return kNotTheSame;
  return in_one_call(input, output, buffer, size);
}
