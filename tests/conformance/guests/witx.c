#include <wasi_nn.h>

#include "interface.h"

static const uint8_t kTypes[] = {WASI_NN_F32, WASI_NN_U8};

_Static_assert(sizeof(NnPart) == sizeof(wasi_nn_builder), "one layout");

uint32_t NnLoadByName(const char* name, uint32_t* graph) {
  return wasi_nn_load_by_name(name, (uint32_t)__builtin_strlen(name), graph);
}

uint32_t NnLoad(const NnPart* parts, uint32_t count, uint32_t encoding, uint32_t* graph) {
  return wasi_nn_load((const wasi_nn_builder*)parts, count, encoding, WASI_NN_TARGET_CPU, graph);
}

uint32_t NnInit(uint32_t graph, uint32_t* context) { return wasi_nn_init_execution_context(graph, context); }

uint32_t NnInfer(uint32_t context, const NnInput* input, const char* output, void* buffer, uint32_t room,
                 uint32_t* written) {
  (void)output;
  const wasi_nn_tensor tensor = {input->dims, input->rank, kTypes[input->type], {0}, input->data, input->size};
  wasi_nn_errno error = wasi_nn_set_input(context, 0, &tensor);
  if (error == WASI_NN_SUCCESS) error = wasi_nn_compute(context);
  if (error == WASI_NN_SUCCESS) error = wasi_nn_get_output(context, 0, buffer, room, written);
  return error;
}
