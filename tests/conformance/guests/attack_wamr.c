// WAMR's module wasi_nn.
#include <wasi_nn_wamr.h>

#include "attack.h"

// The bytes of an output's element: of the models here, an input's.
static uint32_t g_element = 4;

const uint32_t kRawF32 = WAMR_NN_F32, kRawU8 = WAMR_NN_U8, kRawNoType = 4;

uint32_t RawLoad(uint32_t builders, uint32_t count, uint32_t encoding, uint32_t target, uint32_t out) {
  const wamr_nn_builders record = {(const wamr_nn_builder*)builders, count};
  return wamr_nn_load(&record, encoding, target, (wasi_nn_graph*)out);
}
uint32_t RawLoadByName(uint32_t name, uint32_t size, uint32_t out) {
  return wamr_nn_load_by_name((const char*)name, size, (wasi_nn_graph*)out);
}
uint32_t RawInit(uint32_t graph, uint32_t out) { return wamr_nn_init_execution_context(graph, (wasi_nn_context*)out); }
uint32_t RawCompute(uint32_t context) { return wamr_nn_compute(context); }
uint32_t RawSet(uint32_t context, const RawTensor* t) {
  const wamr_nn_dimensions shape = {(const uint32_t*)t->dims, t->rank};
  const wamr_nn_tensor tensor = {&shape, (wamr_nn_type)t->type, {0xff, 0xff, 0xff}, (const void*)t->data};
  const uint32_t error = wamr_nn_set_input(context, t->index, &tensor);
  if (error == 0) g_element = t->type == kRawU8 ? 1 : 4;
  return error;
}
uint32_t RawSetRecord(uint32_t context, uint32_t record) {
  return wamr_nn_set_input(context, 0, (const wamr_nn_tensor*)record);
}
// The room stands where the size will stand, both in elements.
uint32_t RawGet(uint32_t context, uint32_t index, uint32_t buffer, uint32_t size, uint32_t out) {
  const int outside = out >= End() - sizeof(size);
  if (!outside) *(uint32_t*)out = size / g_element + (size % g_element != 0);
  const uint32_t error = wamr_nn_get_output(context, index, (void*)buffer, (uint32_t*)out);
  if (!outside) *(uint32_t*)out *= g_element;
  return error;
}

void OwnAttacks(uint32_t graph, uint32_t context) {
  const struct {
    uint32_t builders, count;
  } record = {0, 1};
  Tally records = {}, shapes = {};
  uint32_t out = 0;
  for (uint32_t i = 0; i < kBadPlaces; ++i) {
    Add(&records, wamr_nn_load((const wamr_nn_builders*)BadPlace(i), 0, 0, &out));
    const wamr_nn_tensor tensor = {(const wamr_nn_dimensions*)BadPlace(i), WAMR_NN_F32, {0}, &record};
    Add(&shapes, wamr_nn_set_input(context, 0, &tensor));
  }
  (void)graph;
  PrintTally("records of builders outside", &records);
  PrintTally("shapes outside", &shapes);
}
