// What WAMR's own test programs compute, over its first module wasi_nn (-DWAMR_MODULE) or over wasi_ephemeral_nn, with
// models from the guest's own bytes and with bytes for quantised ones. (They themselves: wamrs_own_test.cc.)
//
//   wamr_programs DIMS MODEL OUTPUTS [INPUT]
//
// Loads a TensorFlow Lite model of one input of this shape, gives it the floats 0, 1, 2 …, or the file INPUT as u8, and
// prints each of its OUTPUTS outputs: floats, or for a u8 input bytes.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wasi_nn_wamr.h"

enum { kMaxRank = 8, kMaxModel = 1 << 20, kMaxElements = 1 << 12 };

static uint8_t model[kMaxModel];
static float input[kMaxElements];

static uint32_t Read(const char* path, void* bytes, uint32_t room) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(2);
  const size_t size = fread(bytes, 1, room, file);
  fclose(file);
  return (uint32_t)size;
}

static void Check(const char* call, wasi_nn_errno error) {
  if (error == WASI_NN_SUCCESS) return;
  printf("%s: %u\n", call, (unsigned)error);
  exit(1);
}

#ifdef WAMR_MODULE
static void Load(uint32_t size, wasi_nn_graph* graph, wasi_nn_context* context) {
  const wamr_nn_builder part = {model, size};
  const wamr_nn_builders parts = {&part, 1};
  Check("load", wamr_nn_load(&parts, WAMR_NN_ENCODING_TENSORFLOWLITE, WASI_NN_TARGET_CPU, graph));
  Check("init_execution_context", wamr_nn_init_execution_context(*graph, context));
}

static void SetInput(wasi_nn_context context, const uint32_t* dims, uint32_t rank, bool quantized, uint32_t size) {
  (void)size;
  const wamr_nn_dimensions shape = {dims, rank};
  const wamr_nn_tensor tensor = {&shape, quantized ? WAMR_NN_U8 : WAMR_NN_F32, {0x17, 0x01, 0}, input};
  Check("set_input", wamr_nn_set_input(context, 0, &tensor));
  Check("compute", wamr_nn_compute(context));
}

// In elements, all three.
static uint32_t GetOutput(wasi_nn_context context, uint32_t index, void* buffer, uint32_t room, bool quantized) {
  (void)quantized;
  uint32_t size = room;
  Check("get_output", wamr_nn_get_output(context, index, buffer, &size));
  return size;
}
#else
static void Load(uint32_t size, wasi_nn_graph* graph, wasi_nn_context* context) {
  const wasi_nn_builder part = {model, size};
  Check("load", wasi_nn_load(&part, 1, WASI_NN_ENCODING_TENSORFLOWLITE, WASI_NN_TARGET_CPU, graph));
  Check("init_execution_context", wasi_nn_init_execution_context(*graph, context));
}

static void SetInput(wasi_nn_context context, const uint32_t* dims, uint32_t rank, bool quantized, uint32_t size) {
  const wasi_nn_tensor tensor = {dims, rank, quantized ? WASI_NN_U8 : WASI_NN_F32, {0}, input, size};
  Check("set_input", wasi_nn_set_input(context, 0, &tensor));
  Check("compute", wasi_nn_compute(context));
}

static uint32_t GetOutput(wasi_nn_context context, uint32_t index, void* buffer, uint32_t room, bool quantized) {
  const uint32_t element = quantized ? 1 : sizeof(float);
  uint32_t size = 0;
  Check("get_output", wasi_nn_get_output(context, index, buffer, room * element, &size));
  return size / element;
}
#endif

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  uint32_t dims[kMaxRank], rank = 0, elements = 1;
  for (char* dim = strtok(argv[1], ","); dim != NULL && rank < kMaxRank; dim = strtok(NULL, ",")) {
    dims[rank] = (uint32_t)atoi(dim);
    elements *= dims[rank++];
  }
  const bool quantized = argc > 4;
  if (quantized) {
    Read(argv[4], input, sizeof(input));
  } else {
    for (uint32_t i = 0; i < elements; ++i) input[i] = (float)i;
  }
  wasi_nn_graph graph;
  wasi_nn_context context;
  Load(Read(argv[2], model, sizeof(model)), &graph, &context);
  SetInput(context, dims, rank, quantized, quantized ? elements : elements * 4);
  for (uint32_t i = 0; i < (uint32_t)atoi(argv[3]); ++i) {
    static float output[kMaxElements];
    const uint32_t size = GetOutput(context, i, output, kMaxElements, quantized);
    for (uint32_t j = 0; j < size; ++j) {
      printf("%g ", quantized ? (double)((uint8_t*)output)[j] : (double)output[j]);
    }
    printf("\n");
  }
  return 0;
}
