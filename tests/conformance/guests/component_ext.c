// wasinn:ext next to wasi:nn 0.2.0-rc-2024-10-28: a model that is loaded by its format's name and describes itself, and only
// the output that is wanted.
#define LOADS_BY_NAME_OF_FORMAT
#include "component_load.h"
#define EXT_IMPORT(interface, name) __attribute__((import_module("wasinn:ext/" interface "@0.1.0"), import_name(name)))

// Errors that this file finds itself.
enum { kNotDescribed = 900, kNotSelected };

typedef struct Name {
  const char* text;
  size_t size;
} Name;

// A result without a value.
typedef struct Done {
  uint8_t is_error;
  wasi_nn_error error;
} Done;

void Describe(wasi_nn_graph graph, wasi_nn_list* text) EXT_IMPORT("inspect", "describe");
void SelectOutputs(wasi_nn_context context, const Name* names, size_t count, Done* done)
    EXT_IMPORT("configure", "select-outputs");

void LoadAs(const wasi_nn_builder* builders, size_t count, const char* format, size_t format_size, uint32_t target,
            wasi_nn_result* result) EXT_IMPORT("configure", "load-as");

uint32_t NnLoad(const NnPart* parts, uint32_t count, uint32_t encoding, uint32_t* graph) {
  static const char* const kNames[] = {"openvino",       "onnx", "tensorflow", "pytorch",
                                       "tensorflowlite", "ggml", "autodetect"};
  const char* name = encoding < sizeof(kNames) / sizeof(*kNames) ? kNames[encoding] : "unknown";
  wasi_nn_result result;
  LoadAs((const wasi_nn_builder*)parts, count, name, strlen(name), WASI_NN_TARGET_CPU, &result);
  return TakeHandle(&result, graph);
}

uint32_t NnInit(uint32_t graph, uint32_t* context) {
  static const char kBegin[] = "{\"backend\":\"";
  wasi_nn_list text;
  Describe(graph, &text);
  const bool described = text.count > sizeof(kBegin) && memcmp(text.items, kBegin, sizeof(kBegin) - 1) == 0;
  wasi_nn_list_free(&text);
  return described ? InitContext(graph, context) : kNotDescribed;
}

uint32_t NnInfer(uint32_t context, const NnInput* input, const char* output, void* buffer, uint32_t room,
                 uint32_t* written) {
  const Name name = {output, strlen(output)};
  Done done;
  SelectOutputs(context, &name, 1, &done);
  if (done.is_error) return TakeError(done.error);
  wasi_nn_named_tensor in = {0};
  if (input->name != NULL) in = (wasi_nn_named_tensor){input->name, strlen(input->name), NewTensor(input)};
  wasi_nn_outputs outputs;
  wasi_nn_compute(context, &in, input->name != NULL ? 1 : 0, &outputs);
  if (outputs.is_error) return TakeError(outputs.error);
  const uint32_t error = outputs.list.count == 1 ? 0 : kNotSelected;
  if (error == 0) {
    TakeTensor(outputs.list.items[0].tensor, buffer, room, written);
    outputs.list.items[0].tensor = 0;
  }
  wasi_nn_outputs_free(&outputs);
  return error;
}
