// wasi_ephemeral_nn: the standard's six functions, and with ATTACK_WASMEDGE those that WasmEdge added to them.
#include <stdio.h>
#include <string.h>
#include <wasi_nn_ext.h>

#include "attack.h"

const uint32_t kRawF32 = WASI_NN_F32, kRawU8 = WASI_NN_U8, kRawNoType = 6;

uint32_t RawLoad(uint32_t builders, uint32_t count, uint32_t encoding, uint32_t target, uint32_t out) {
  return wasi_nn_load((const wasi_nn_builder*)builders, count, encoding, target, (wasi_nn_graph*)out);
}
uint32_t RawLoadByName(uint32_t name, uint32_t size, uint32_t out) {
  return wasi_nn_load_by_name((const char*)name, size, (wasi_nn_graph*)out);
}
uint32_t RawInit(uint32_t graph, uint32_t out) { return wasi_nn_init_execution_context(graph, (wasi_nn_context*)out); }
uint32_t RawCompute(uint32_t context) { return wasi_nn_compute(context); }
uint32_t RawSet(uint32_t context, const RawTensor* t) {
  const wasi_nn_tensor tensor = {(const uint32_t*)t->dims, t->rank, (uint8_t)t->type, {0},
                                 (const void*)t->data,     t->size};
  return wasi_nn_set_input(context, t->index, &tensor);
}
uint32_t RawSetRecord(uint32_t context, uint32_t record) {
  return wasi_nn_set_input(context, 0, (const wasi_nn_tensor*)record);
}
uint32_t RawGet(uint32_t context, uint32_t index, uint32_t buffer, uint32_t size, uint32_t out) {
  return wasi_nn_get_output(context, index, (void*)buffer, size, (uint32_t*)out);
}

#ifdef ATTACK_WASMEDGE
static uint32_t Configured(uint32_t name, uint32_t config, uint32_t config_size, uint32_t out) {
  return wasi_nn_load_by_name_with_config((const char*)name, 5, (const char*)config, config_size, (wasi_nn_graph*)out);
}

void OwnAttacks(uint32_t graph, uint32_t context) {
  (void)context;
  static char deep[1 << 14];
  memset(deep, '[', sizeof(deep));
  uint32_t out = 0, mine = 0, own = 0;
  const uint32_t name = Address("model"), place = Address(&out);
  Tally names = {}, configs = {}, graphs = {}, texts = {};
  for (uint32_t i = 0; i < kBadPlaces; ++i) {
    Add(&names, Configured(BadPlace(i), Address("{}"), 2, place));
    Add(&configs, Configured(name, BadPlace(i), 2, place));
    Add(&graphs, Configured(name, Address("{}"), 2, BadPlace(i)));
  }
  Add(&texts, Configured(name, Address("{"), 1, place));
  Add(&texts, Configured(name, Address("[1]"), 3, place));
  Add(&texts, Configured(name, Address("{\"no such key\":1}"), 17, place));
  Add(&texts, Configured(name, Address("{\"library\":\"/x\"}"), 16, place));
  Add(&texts, Configured(name, Address(deep), sizeof(deep), place));
  PrintTally("a configured name outside", &names);
  PrintTally("a configuration outside", &configs);
  PrintTally("a configured graph's place outside", &graphs);
  PrintTally("configurations that are none", &texts);

  Tally dead = {}, forged = {};
  if (RawLoadByName(name, 5, Address(&mine)) != 0 || RawInit(mine, Address(&own)) != 0) return;
  printf("unload, finalize: %u, %u\n", (unsigned)wasi_nn_unload(mine),
         (unsigned)wasi_nn_finalize_execution_context(own));
  Add(&dead, wasi_nn_unload(mine));
  Add(&dead, RawInit(mine, place));
  Add(&dead, wasi_nn_finalize_execution_context(own));
  Add(&dead, RawCompute(own));
  Add(&dead, wasi_nn_compute_single(own));
  Add(&dead, wasi_nn_get_output_single(own, 0, deep, sizeof(deep), &out));
  Add(&dead, wasi_nn_fini_single(own));
  Add(&forged, wasi_nn_unload(graph | 0x80000000));
  Add(&forged, wasi_nn_unload(~0u));
  Add(&forged, wasi_nn_finalize_execution_context(graph));
  PrintTally("what was given back", &dead);
  PrintTally("what never was", &forged);
}
#else
void OwnAttacks(uint32_t graph, uint32_t context) {
  (void)graph;
  (void)context;
}
#endif
