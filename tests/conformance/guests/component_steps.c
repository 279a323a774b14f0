// wasi:nn 0.2.0-rc-2024-08-19 and -06-25, whichever WASI_NN_VERSION says: inputs and outputs each by a call.
#include "component_load.h"

// A result without a value.
typedef struct Done {
  uint8_t is_error;
  wasi_nn_error error;
} Done;

void SetInput(wasi_nn_context context, const char* name, size_t size, wasi_nn_tensor tensor, Done* done)
    WASI_NN_IMPORT("inference", "[method]graph-execution-context.set-input");
void Compute(wasi_nn_context context, Done* done)
    WASI_NN_IMPORT("inference", "[method]graph-execution-context.compute");
void GetOutput(wasi_nn_context context, const char* name, size_t size, wasi_nn_result* tensor)
    WASI_NN_IMPORT("inference", "[method]graph-execution-context.get-output");

uint32_t NnInit(uint32_t graph, uint32_t* context) { return InitContext(graph, context); }

uint32_t NnInfer(uint32_t context, const NnInput* input, const char* output, void* buffer, uint32_t room,
                 uint32_t* written) {
  Done done;
  if (input->name != NULL) {
    SetInput(context, input->name, strlen(input->name), NewTensor(input), &done);
    if (done.is_error) return TakeError(done.error);
  }
  Compute(context, &done);
  if (done.is_error) return TakeError(done.error);
  wasi_nn_result result;
  GetOutput(context, output, strlen(output), &result);
  if (result.is_error) return TakeError(result.handle);
  TakeTensor(result.handle, buffer, room, written);
  return 0;
}
