// The module wasinn_ext_0: formats, inputs and outputs by name, outputs written by compute.
#include <string.h>
#include <wasi_nn_ext.h>

#include "interface.h"

static const uint8_t kTypes[] = {WASI_NN_F32, WASI_NN_U8};
// What this file finds wrong itself.
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

uint32_t NnInit(uint32_t graph, uint32_t* context) {
  static char text[1 << 16];
  static const char kBegin[] = "{\"backend\":\"";
  uint32_t written = 0;
  const wasi_nn_errno error = wasinn_describe(graph, text, sizeof(text), &written);
  if (error != WASI_NN_SUCCESS) return error;
  if (written < sizeof(kBegin) || memcmp(text, kBegin, sizeof(kBegin) - 1) != 0) return kNotDescribed;
  return wasi_nn_init_execution_context(graph, context);
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
  if (error == WASI_NN_SUCCESS) error = wasi_nn_compute(context);
  if (error != WASI_NN_SUCCESS) return error;
  uint32_t size = 0;
  error = wasinn_get_output_by_name(context, output, output_size, again, sizeof(again), &size);
  if (error != WASI_NN_SUCCESS) return error;
  return size == *written && memcmp(again, buffer, size) == 0 ? 0 : kNotTheSame;
}
