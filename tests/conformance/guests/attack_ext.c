// The module wasinn_ext_0, and the standard's functions that it has no other form of.
#include <stdio.h>
#include <string.h>
#include <wasi_nn_ext.h>

#include "attack.h"

const uint32_t kRawF32 = WASI_NN_F32, kRawU8 = WASI_NN_U8, kRawNoType = 6;

uint32_t RawLoad(uint32_t builders, uint32_t count, uint32_t encoding, uint32_t target, uint32_t out) {
  static const char* const kNames[] = {"openvino",       "onnx",       "tensorflow", "pytorch",
                                       "tensorflowlite", "autodetect", "AutoDetect"};
  // Another number becomes a name that is outside of memory, or is none.
  const char* name = encoding < sizeof(kNames) / sizeof(*kNames) ? kNames[encoding] : (const char*)encoding;
  const uint32_t size = encoding < sizeof(kNames) / sizeof(*kNames) ? (uint32_t)strlen(name) : encoding;
  return wasinn_load_as((const wasi_nn_builder*)builders, count, name, size, target, (wasi_nn_graph*)out);
}
uint32_t RawLoadByName(uint32_t name, uint32_t size, uint32_t out) {
  return wasi_nn_load_by_name((const char*)name, size, (wasi_nn_graph*)out);
}
uint32_t RawInit(uint32_t graph, uint32_t out) { return wasi_nn_init_execution_context(graph, (wasi_nn_context*)out); }
uint32_t RawCompute(uint32_t context) { return wasi_nn_compute(context); }

typedef struct Index {
  char text[12];
  uint32_t size;
} Index;
static Index InWords(uint32_t index) {
  Index words;
  words.size = (uint32_t)snprintf(words.text, sizeof(words.text), "%u", (unsigned)index);
  return words;
}

uint32_t RawSet(uint32_t context, const RawTensor* t) {
  const Index index = InWords(t->index);
  const wasi_nn_tensor tensor = {(const uint32_t*)t->dims, t->rank, (uint8_t)t->type, {0},
                                 (const void*)t->data,     t->size};
  return wasinn_set_input_by_name(context, index.text, index.size, &tensor);
}
uint32_t RawSetRecord(uint32_t context, uint32_t record) {
  return wasinn_set_input_by_name(context, "0", 1, (const wasi_nn_tensor*)record);
}
uint32_t RawGet(uint32_t context, uint32_t index, uint32_t buffer, uint32_t size, uint32_t out) {
  const Index words = InWords(index);
  return wasinn_get_output_by_name(context, words.text, words.size, (void*)buffer, size, (uint32_t*)out);
}

static void Names(uint32_t context) {
  static char buffer[4096];
  static const uint32_t kSizes[] = {0xffffffff, 0x80000000};
  const wasi_nn_tensor tensor = {NULL, 0, WASI_NN_F32, {0}, buffer, 4};
  uint32_t out = 0;
  Tally outside = {}, unknown = {};
  for (uint32_t i = 0; i < kBadPlaces; ++i) {
    const char* bad = (const char*)BadPlace(i);
    Add(&outside, wasinn_set_input_by_name(context, bad, 4, &tensor));
    Add(&outside, wasinn_get_output_by_name(context, bad, 4, buffer, sizeof(buffer), &out));
    Add(&outside, wasinn_set_output_by_name(context, bad, 4, NULL, 0, &out));
  }
  for (int i = 0; i < 2; ++i) Add(&outside, wasinn_set_input_by_name(context, buffer, kSizes[i], &tensor));
  static const char* const kNames[] = {"", "no such name", "4294967296", "-1", "\xff\xfe", "0x0"};
  for (size_t i = 0; i < sizeof(kNames) / sizeof(*kNames); ++i) {
    const uint32_t size = (uint32_t)strlen(kNames[i]);
    Add(&unknown, wasinn_set_input_by_name(context, kNames[i], size, &tensor));
    Add(&unknown, wasinn_get_output_by_name(context, kNames[i], size, buffer, sizeof(buffer), &out));
    Add(&unknown, wasinn_set_output_by_name(context, kNames[i], size, NULL, 0, &out));
  }
  PrintTally("names of tensors outside", &outside);
  PrintTally("names that nothing has", &unknown);
}

// Each place of a call that lies outside, and impossible numbers of inputs and outputs.
static void Once(uint32_t graph, uint32_t context) {
  static char buffer[4096];
  static const uint32_t kDims[] = {1};
  Tally places = {}, counts = {};
  for (uint32_t on = 0; on < 2; ++on) {
    const uint32_t handle = on == 0 ? context : graph;
    const wasinn_input input = {NULL, 0, {kDims, 1, WASI_NN_F32, {0}, buffer, 4}};
    const wasinn_output output = {NULL, 0, buffer, sizeof(buffer), 0};
    for (uint32_t i = 0; i < kBadPlaces; ++i) {
      void* bad = (void*)BadPlace(i);
      wasinn_input in = input;
      wasinn_output out = output;
      Add(&places, wasinn_compute_once(handle, bad, 1, &out, 1));
      Add(&places, wasinn_compute_once(handle, &in, 1, bad, 1));
      in.name = bad;
      in.name_len = 4;
      Add(&places, wasinn_compute_once(handle, &in, 1, &out, 1));
      in = input;
      in.tensor.data = bad;
      Add(&places, wasinn_compute_once(handle, &in, 1, &out, 1));
      in = input;
      in.tensor.dims = bad;
      Add(&places, wasinn_compute_once(handle, &in, 1, &out, 1));
      out.buffer = bad;
      Add(&places, wasinn_compute_once(handle, &input, 1, &out, 1));
    }
    for (const uint32_t *n = (const uint32_t[]){5000, 0x7fffffff, ~0u}, *end = n + 3; n < end; ++n) {
      wasinn_input in = input;
      wasinn_output out = output;
      Add(&counts, wasinn_compute_once(handle, &in, *n, &out, 1));
      Add(&counts, wasinn_compute_once(handle, &in, 1, &out, *n));
      in.name_len = *n;
      Add(&counts, wasinn_compute_once(handle, &in, 1, &out, 1));
      in.name_len = 0;
      out.name_len = *n;
      Add(&counts, wasinn_compute_once(handle, &in, 1, &out, 1));
    }
  }
  PrintTally("places of a whole call outside", &places);
  PrintTally("numbers of a whole call that nothing has", &counts);
}

static void Computes(wasi_nn_context context) {
  uint32_t index = 0;
  Tally places = {}, counts = {}, handles = {};
  for (uint32_t i = 0; i < kBadPlaces; ++i) {
    Add(&places, wasinn_compute_wait((const wasi_nn_context*)BadPlace(i), 1, 0, &index));
    Add(&places, wasinn_compute_wait(&context, 1, 0, (uint32_t*)BadPlace(i)));
  }
  for (const uint32_t *n = (const uint32_t[]){0, 5000, 0x7fffffff, ~0u}, *end = n + 4; n < end; ++n) {
    Add(&counts, wasinn_compute_wait(&context, *n, WASINN_FOR_EVER, &index));
    Add(&handles, wasinn_compute_begin(*n));
    Add(&handles, wasinn_compute_poll(*n));
    Add(&handles, wasinn_compute_cancel(*n));
    Add(&handles, wasinn_compute_wait(n, 1, WASINN_FOR_EVER, &index));
  }
  Add(&handles, wasinn_compute_poll(context));
  Add(&handles, wasinn_compute_cancel(context));
  Add(&handles, wasinn_compute_wait(&context, 1, WASINN_FOR_EVER, &index));
  PrintTally("places of a wait outside", &places);
  PrintTally("numbers of computes that nothing has", &counts);
  PrintTally("computes that have not begun", &handles);
  const wasi_nn_context twice[] = {context, context};
  const uint32_t begun = wasinn_compute_begin(context), again = wasinn_compute_begin(context),
                 other = wasi_nn_compute(context), same = wasinn_compute_wait(twice, 2, WASINN_FOR_EVER, &index),
                 waited = wasinn_compute_wait(&context, 1, WASINN_FOR_EVER, &index);
  (void)wasinn_compute_poll(context);
  printf("a compute that is begun twice: %u, %u, %u, %u, %u\n", (unsigned)begun, (unsigned)again, (unsigned)other,
         (unsigned)same, (unsigned)waited);
}

void OwnAttacks(uint32_t graph, uint32_t context) {
  static char buffer[1 << 16];
  uint32_t out = 0;
  Names(context);
  Once(graph, context);
  Computes(context);
  Tally texts = {}, places = {}, handles = {};
  for (uint32_t i = 0; i < kBadPlaces; ++i) {
    char* bad = (char*)BadPlace(i);
    Add(&texts, wasinn_describe(graph, bad, 16, &out));
    Add(&texts, wasinn_describe(graph, buffer, sizeof(buffer), (uint32_t*)bad));
    Add(&texts, wasinn_last_error(bad, 16, &out));
    Add(&texts, wasinn_last_error(buffer, sizeof(buffer), (uint32_t*)bad));
    Add(&places, wasinn_set_output(context, 0, bad, 16, &out));
    Add(&places, wasinn_set_output(context, 0, buffer, sizeof(buffer), (uint32_t*)bad));
  }
  for (const uint32_t *n = (const uint32_t[]){0, 1, 0x7fffffff, ~0u}, *end = n + 4; n < end; ++n) {
    Add(&handles, wasinn_describe(*n, buffer, sizeof(buffer), &out));
    Add(&handles, wasinn_set_output(*n, 0, buffer, sizeof(buffer), &out));
    Add(&handles, wasinn_set_output(context, 1000 + *n / 2, buffer, sizeof(buffer), &out));
    Add(&handles, wasinn_set_input_from_output(*n, 0, context, 0));
    Add(&handles, wasinn_set_input_from_output(context, 0, *n, 0));
    Add(&handles, wasinn_set_input_from_output(context, 1000 + *n / 2, context, 0));
    Add(&handles, wasinn_set_input_from_output(context, 0, context, 1000 + *n / 2));
  }
  PrintTally("places of texts outside", &texts);
  PrintTally("places of outputs outside", &places);
  PrintTally("describing and setting what is not there", &handles);
}
