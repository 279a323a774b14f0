// thread_attacks HOW: a guest whose threads try what must not harm the host. Its models are "model" and "endless".
//
//   bomb            spawns threads that stay, until it gets no more; lets them end, and spawns again
//   chain           each thread spawns the next
//   exit-ACTIVITIES one thread exits with 7 while the others and the first are busy with these, in turn: l loop, p are
//                   parked, c compute, s sleep in the system
//   trap-…, zero-…  the same, but it traps, or exits with 0
//   return-…        the first returns while the others are busy
//   busy            two threads compute on one context; the one that finds it busy finalizes it
//   grow            a thread grows the memory while the others pass tensors
//   use             as many threads as can be had load and compute, at once; then the first prints how many did and how
//                   many the host refused with runtime_error, and does so itself
#include <wasi_nn_ext.h>

#include "freestanding.h"

enum { kMax = 200, kOthers = 8, kChain = 50, kRounds = 300, kPages = 100 };

WASI("poll_oneoff") uint32_t poll_oneoff(const void* in, void* out, uint32_t count, uint32_t* events);

static _Alignas(16) char g_stacks[kMax][kStack];
static thread g_threads[kMax];
static uint32_t g_running, g_ended, g_gate, g_never, g_grown, g_inferred, g_refused;
static wasi_nn_context g_context;
static const char* g_how;

static int32_t spawn(uint32_t number) {
  g_threads[number].stack_top = g_stacks[number] + kStack;
  g_threads[number].number = number;
  return thread_spawn(&g_threads[number]);
}

// A context of the model "endless", ready to compute.
static wasi_nn_context endless_context(void) {
  wasi_nn_graph graph;
  wasi_nn_context context;
  const float value = 1;
  const uint32_t dims[] = {1};
  const wasi_nn_tensor tensor = {dims, 1, WASI_NN_F32, {0}, (const uint8_t*)&value, sizeof(value)};
  expect(wasi_nn_load_by_name("endless", 7, &graph) == WASI_NN_SUCCESS, 70);
  expect(wasi_nn_init_execution_context(graph, &context) == WASI_NN_SUCCESS, 71);
  expect(wasi_nn_set_input(context, 0, &tensor) == WASI_NN_SUCCESS, 72);
  return context;
}

static void sleep_for_long(void) {
  struct {
    uint64_t user;
    uint8_t tag;
    _Alignas(8) uint32_t clock;
    uint64_t timeout, precision;
    uint16_t flags;
  } until = {0, 0, 1, UINT64_C(2000000000), 0, 0};
  char event[32];
  uint32_t events;
  poll_oneoff(&until, event, 1, &events);
  // If it gets as far as that, the guest has ended long ago.
  wasi_nn_graph graph;
  (void)!wasi_nn_load_by_name("model", 5, &graph);
}

static void be_busy(char activity) {
  const wasi_nn_context context = activity == 'c' ? endless_context() : 0;
  arrive(&g_running);
  if (activity == 'c') (void)!wasi_nn_compute(context);
  if (activity == 'p') wait_for(&g_never, 1);
  if (activity == 's') sleep_for_long();
  for (volatile uint32_t i = 0;; ++i) {  // l, and any thread that comes back
  }
}

static const char* activities(void) {
  const char* at = g_how;
  while (*at != '-') ++at;
  return at + 1;
}

static char activity_of(uint32_t number) {
  const char* all = activities();
  uint32_t count = 0;
  while (all[count] != 0) ++count;
  if (count == 0) return 'l';
  return all[number % count];
}

static void end_badly(void) {
  wait_for(&g_running, kOthers);                     // the first and all but this one
  for (volatile uint32_t i = 0; i < 3000000; ++i) {  // until they are inside
  }
  if (g_how[0] == 't') __builtin_trap();
  proc_exit(g_how[0] == 'z' ? 0 : 7);
}

// Two numbers into a tensor in the newest page and back.
static void use_newest_page(void) {
  wasi_nn_graph graph;
  wasi_nn_context context;
  const uint32_t dims[] = {1, 2};
  expect(wasi_nn_load_by_name("model", 5, &graph) == WASI_NN_SUCCESS, 80);
  expect(wasi_nn_init_execution_context(graph, &context) == WASI_NN_SUCCESS, 81);
  for (uint32_t round = 0; round < kRounds; ++round) {
    const uint32_t pages = (uint32_t)__builtin_wasm_memory_size(0);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the guest's memory begins at address 0
    const uint8_t* data = (const uint8_t*)(pages * 65536 - 8);
    const wasi_nn_tensor tensor = {dims, 2, WASI_NN_F32, {0}, data, 8};
    float out[2] = {-1, -1};
    uint32_t written = 0;
    expect(wasi_nn_set_input(context, 0, &tensor) == WASI_NN_SUCCESS, 82);
    expect(wasi_nn_compute(context) == WASI_NN_SUCCESS, 83);
    expect(wasi_nn_get_output(context, 0, (uint8_t*)out, sizeof(out), &written) == WASI_NN_SUCCESS, 84);
    expect(written == 8 && out[0] == 0 && out[1] == 0, 85);
  }
}

static void grow(void) {
  for (int i = 0; i < kPages; ++i) {
    if (__builtin_wasm_memory_grow(0, 1) != (uint32_t)-1) ++g_grown;
    for (volatile uint32_t wait = 0; wait < 20000; ++wait) {
    }
  }
}

// Two threads compute on one context without end. Only one succeeds; the other gets `busy`, and ends both.
static void compute_on_the_same(void) {
  const wasi_nn_errno error = wasi_nn_compute(g_context);
  expect(error != WASI_NN_SUCCESS, 90);
  if (error != WASI_NN_BUSY) return;
  arrive(&g_refused);
  expect(wasi_nn_finalize_execution_context(g_context) == WASI_NN_SUCCESS, 91);
  expect(wasi_nn_compute(g_context) == WASI_NN_INVALID_ARGUMENT, 92);
}

// Whether all of an inference was made; none of it may be refused with anything but runtime_error.
static int infers(void) {
  wasi_nn_graph graph;
  wasi_nn_context context;
  const float in[] = {3, 4};
  float out[] = {-1, -1};
  const uint32_t dims[] = {1, 2};
  const wasi_nn_tensor tensor = {dims, 2, WASI_NN_F32, {0}, (const uint8_t*)in, sizeof(in)};
  uint32_t written = 0;
  wasi_nn_errno error = wasi_nn_load_by_name("model", 5, &graph);
  if (error == WASI_NN_SUCCESS) error = wasi_nn_init_execution_context(graph, &context);
  if (error == WASI_NN_SUCCESS) error = wasi_nn_set_input(context, 0, &tensor);
  if (error == WASI_NN_SUCCESS) error = wasi_nn_compute(context);
  if (error == WASI_NN_SUCCESS) error = wasi_nn_get_output(context, 0, (uint8_t*)out, sizeof(out), &written);
  if (error != WASI_NN_SUCCESS) expect(error == WASI_NN_RUNTIME_ERROR, 100 + error);
  if (error == WASI_NN_SUCCESS) expect(written == sizeof(out) && out[0] == 3 && out[1] == 4, 99);
  return error == WASI_NN_SUCCESS;
}

__attribute__((used)) void work(int32_t id, thread* self) {
  expect(id > 0 && id < 1 << 29, 50);
  const uint32_t number = self->number;
  if (g_how[0] == 'b' && g_how[1] == 'o') wait_for(&g_gate, 1);
  if (g_how[0] == 'b' && g_how[1] == 'u') compute_on_the_same();
  if (g_how[0] == 'c' && number + 1 < kChain) expect(spawn(number + 1) > 0, 51);
  if (g_how[0] == 'e' || g_how[0] == 't' || g_how[0] == 'z') {
    if (number == 0) end_badly();
    be_busy(activity_of(number));
  }
  if (g_how[0] == 'r') be_busy(activity_of(number));
  if (g_how[0] == 'u') {
    wait_for(&g_gate, 1);
    if (infers()) arrive(&g_inferred);
  }
  if (g_how[0] == 'g') {
    if (number == 0) grow();
    if (number != 0) use_newest_page();
  }
  arrive(&g_ended);
}

static void bomb(void) {
  uint32_t made = 0;
  while (made < kMax - 1 && spawn(made) > 0) ++made;
  arrive(&g_gate);
  wait_for(&g_ended, made);
  print("spawned", made);
  // They are on their way out.
  int32_t again = -1;
  for (uint32_t i = 0; i < 100000000 && again < 0; ++i) again = spawn(kMax - 1);
  expect(again > 0, 60);
  wait_for(&g_ended, made + 1);
}

static void use(void) {
  uint32_t made = 0;
  while (made < kOthers && spawn(made) > 0) ++made;
  arrive(&g_gate);
  wait_for(&g_ended, made);
  print("inferred", g_inferred);
  print("refused", made - g_inferred);
  print("first", (uint32_t)infers());
}

static void two_on_one_context(void) {
  g_context = endless_context();
  expect(spawn(0) > 0, 61);
  compute_on_the_same();
  wait_for(&g_ended, 1);
  expect(g_refused == 1, 62);
}

__attribute__((export_name("_start"))) void start(void) {
  g_how = argument();
  if (g_how[0] == 'b' && g_how[1] == 'o') return bomb();
  if (g_how[0] == 'b') return two_on_one_context();
  if (g_how[0] == 'u') return use();
  if (g_how[0] == 'c') {
    expect(spawn(0) > 0, 63);
    return wait_for(&g_ended, kChain);
  }
  for (uint32_t i = 0; i < kOthers; ++i) expect(spawn(i) > 0, 64);
  if (g_how[0] == 'r') return wait_for(&g_running, kOthers);
  if (g_how[0] != 'g') be_busy(activity_of(0));
  wait_for(&g_ended, kOthers);
  print("grown", g_grown);
}
