// Shared by the versions of wasi:nn.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wasi_nn_component.h>

#include "interface.h"

_Static_assert(sizeof(NnPart) == sizeof(wasi_nn_builder), "one layout");

// The number of an error, whose words go to stderr.
static inline uint32_t TakeError(wasi_nn_error error) {
  wasi_nn_list text;
  wasi_nn_error_data(error, &text);
  fprintf(stderr, "%.*s\n", (int)text.count, (const char*)text.items);
  wasi_nn_list_free(&text);
  const uint32_t code = wasi_nn_error_code(error);
  wasi_nn_error_drop(error);
  return 1000 + code;
}

static inline uint32_t TakeHandle(const wasi_nn_result* result, uint32_t* handle) {
  if (result->is_error) return TakeError(result->handle);
  *handle = result->handle;
  return 0;
}

static inline wasi_nn_tensor NewTensor(const NnInput* input) {
  static const wasi_nn_type kTypes[] = {WASI_NN_FP32, WASI_NN_U8};
  return wasi_nn_tensor_new(input->dims, input->rank, kTypes[input->type], input->data, input->size);
}

// Copies what fits, and drops the tensor.
static inline void TakeTensor(wasi_nn_tensor tensor, void* buffer, uint32_t room, uint32_t* written) {
  wasi_nn_list bytes;
  wasi_nn_tensor_data(tensor, &bytes);
  *written = (uint32_t)bytes.count;
  memcpy(buffer, bytes.items, bytes.count < room ? bytes.count : room);
  wasi_nn_list_free(&bytes);
  wasi_nn_tensor_drop(tensor);
}

uint32_t NnLoadByName(const char* name, uint32_t* graph) {
  wasi_nn_result result;
  wasi_nn_load_by_name(name, strlen(name), &result);
  return TakeHandle(&result, graph);
}

#ifndef LOADS_BY_NAME_OF_FORMAT
uint32_t NnLoad(const NnPart* parts, uint32_t count, uint32_t encoding, uint32_t* graph) {
  wasi_nn_result result;
  wasi_nn_load((const wasi_nn_builder*)parts, count, encoding, WASI_NN_TARGET_CPU, &result);
  return TakeHandle(&result, graph);
}
#endif

static inline uint32_t InitContext(uint32_t graph, uint32_t* context) {
  wasi_nn_result result;
  wasi_nn_init_execution_context(graph, &result);
  return TakeHandle(&result, context);
}
