// wasi:nn 0.2.0-rc-2024-10-28: inputs go to compute, outputs come from it.
#include "component_load.h"

static bool IsCalled(const wasi_nn_named_tensor* tensor, const char* name) {
  return tensor->name_size == strlen(name) && memcmp(tensor->name, name, tensor->name_size) == 0;
}

uint32_t NnInit(uint32_t graph, uint32_t* context) { return InitContext(graph, context); }

uint32_t NnInfer(uint32_t context, const NnInput* input, const char* output, void* buffer, uint32_t room,
                 uint32_t* written) {
  wasi_nn_named_tensor in = {0};
  if (input->name != NULL) in = (wasi_nn_named_tensor){input->name, strlen(input->name), NewTensor(input)};
  wasi_nn_outputs outputs;
  wasi_nn_compute(context, &in, input->name != NULL ? 1 : 0, &outputs);
  if (outputs.is_error) return TakeError(outputs.error);
  *written = 0;
  for (size_t i = 0; i < outputs.list.count; ++i) {
    wasi_nn_named_tensor* item = &outputs.list.items[i];
    if (!IsCalled(item, output)) continue;
    TakeTensor(item->tensor, buffer, room, written);
    item->tensor = 0;
  }
  wasi_nn_outputs_free(&outputs);
  return 0;
}
