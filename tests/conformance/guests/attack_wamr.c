// WAMR's module wasi_nn. What its records can lie about beyond this is in wamr_hostile.cc.
#include <wasi_nn_wamr.h>

#include "attack.h"

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
  const wamr_nn_tensor tensor = {&shape, (wamr_nn_type)t->type, (const void*)t->data};
  return wamr_nn_set_input(context, t->index, &tensor);
}
uint32_t RawSetRecord(uint32_t context, uint32_t record) {
  return wamr_nn_set_input(context, 0, (const wamr_nn_tensor*)record);
}
// The room stands where the size will stand.
uint32_t RawGet(uint32_t context, uint32_t index, uint32_t buffer, uint32_t size, uint32_t out) {
  if (out < End() - sizeof(size)) *(uint32_t*)out = size;
  return wamr_nn_get_output(context, index, (void*)buffer, (uint32_t*)out);
}

void OwnAttacks(uint32_t graph, uint32_t context) {
  const struct {
    uint32_t builders, count;
  } record = {0, 1};
  Tally records = {}, shapes = {};
  uint32_t out = 0;
  for (uint32_t i = 0; i < kBadPlaces; ++i) {
    Add(&records, wamr_nn_load((const wamr_nn_builders*)BadPlace(i), 0, 0, &out));
    const wamr_nn_tensor tensor = {(const wamr_nn_dimensions*)BadPlace(i), WAMR_NN_F32, &record};
    Add(&shapes, wamr_nn_set_input(context, 0, &tensor));
  }
  (void)graph;
  PrintTally("records of builders outside", &records);
  PrintTally("shapes outside", &shapes);
}
