// A guest with eight threads besides its first, on one shared memory. Each makes 10,000 calls, of which a quarter are
// computes on a context that all share: each of these is made or refused with busy, nothing is lost and nothing gets
// mixed. Prints "made N" and "busy N". The name of its model is "model".
#include <wasi_nn.h>

#include "freestanding.h"

enum { kOthers = 8, kRounds = 2500, kValues = 4 };

typedef struct {
  thread base;
  uint32_t made, busy;  // computes on the shared context
} worker;

static _Alignas(16) char g_stacks[kOthers][kStack];
static worker g_threads[kOthers];
static wasi_nn_graph g_graphs[kOthers];
static wasi_nn_context g_shared;
static uint32_t g_arrived, g_finished;

static wasi_nn_errno set(wasi_nn_context context, const float* values) {
  const uint32_t dims[] = {2, 2};
  const wasi_nn_tensor tensor = {dims, 2, WASI_NN_F32, {0}, (const uint8_t*)values, kValues * sizeof(float)};
  return wasi_nn_set_input(context, 0, &tensor);
}

// Each thread gets its own data back, and no other thread's.
static void use_own(const worker* self, wasi_nn_context context, uint32_t round) {
  float in[kValues], out[kValues] = {-1, -1, -1, -1};
  for (uint32_t i = 0; i < kValues; ++i) in[i] = (float)(self->base.number * 100000 + round * 4 + i);
  uint32_t written = 0;
  expect(set(context, in) == WASI_NN_SUCCESS, 10);
  expect(wasi_nn_compute(context) == WASI_NN_SUCCESS, 11);
  expect(wasi_nn_get_output(context, 0, (uint8_t*)out, sizeof(out), &written) == WASI_NN_SUCCESS, 12);
  expect(written == sizeof(out), 13);
  for (uint32_t i = 0; i < kValues; ++i) expect(out[i] == in[i], 14);
}

static void stress(worker* self) {
  // All of them make their first call at once, and are one guest nevertheless: each goes on with a graph of another's.
  expect(wasi_nn_load_by_name("model", 5, &g_graphs[self->base.number]) == WASI_NN_SUCCESS, 20);
  arrive(&g_arrived);
  wait_for(&g_arrived, kOthers);
  wasi_nn_context context;
  expect(wasi_nn_init_execution_context(g_graphs[(self->base.number + 1) % kOthers], &context) == WASI_NN_SUCCESS, 21);
  if (self->base.number == 0) {
    const float values[kValues] = {1, 2, 3, 4};
    expect(wasi_nn_init_execution_context(g_graphs[0], &g_shared) == WASI_NN_SUCCESS, 22);
    expect(set(g_shared, values) == WASI_NN_SUCCESS, 23);
  }
  arrive(&g_arrived);
  wait_for(&g_arrived, 2 * kOthers);
  for (uint32_t round = 0; round < kRounds; ++round) {  // four calls
    use_own(self, context, round);
    const wasi_nn_errno error = wasi_nn_compute(g_shared);
    expect(error == WASI_NN_SUCCESS || error == WASI_NN_BUSY, 30 + error);
    ++*(error == WASI_NN_SUCCESS ? &self->made : &self->busy);
  }
}

__attribute__((used)) void work(int32_t id, thread* self) {
  expect(id > 0 && id < 1 << 29, 40);
  stress((worker*)self);
  arrive(&g_finished);
}

__attribute__((export_name("_start"))) void start(void) {
  for (uint32_t i = 0; i < kOthers; ++i) {
    g_threads[i].base.stack_top = g_stacks[i] + kStack;
    g_threads[i].base.number = i;
    expect(thread_spawn(&g_threads[i]) > 0, 4);
  }
  wait_for(&g_finished, kOthers);
  uint32_t made = 0, busy = 0;
  for (int i = 0; i < kOthers; ++i) {
    made += g_threads[i].made;
    busy += g_threads[i].busy;
  }
  expect(made + busy == kOthers * kRounds, 60);
  print("made", made);
  print("busy", busy);
}
