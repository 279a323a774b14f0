// threads HOW: a guest with nine threads on one shared memory, freestanding, for no registry has a threaded C library.
// The names of its two models are "model" and "endless".
//
//   stress: 10,000 calls of each thread, of which some on a context that all share. Each of the latter is made or
//   refused
//       with busy, nothing is lost and nothing gets mixed. Prints "made N, busy N".
//   trap, exit: one of the others traps or exits while the first is inside an endless compute
//   return: the first returns while the others are inside endless computes
#include <stdint.h>
#include <wasi_nn.h>

enum { kOthers = 8, kRounds = 2500, kValues = 4, kStack = 16384 };

typedef struct {
  const void* data;
  uint32_t size;
} ciovec;
#define WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(name)))
WASI("proc_exit") _Noreturn void proc_exit(uint32_t code);
WASI("fd_write") uint32_t fd_write(uint32_t fd, const ciovec* parts, uint32_t count, uint32_t* written);
WASI("args_get") uint32_t args_get(char** argv, char* buffer);
WASI("args_sizes_get") uint32_t args_sizes_get(uint32_t* count, uint32_t* size);
__attribute__((import_module("wasi"), import_name("thread-spawn"))) int32_t thread_spawn(void* arg);

typedef struct {
  char* stack_top;  // first, for the assembly below
  uint32_t number;
  uint32_t made, busy;  // computes on the shared context
} thread;

static _Alignas(16) char g_stacks[kOthers][kStack];
static thread g_threads[kOthers];
static wasi_nn_graph g_graphs[kOthers];
static wasi_nn_context g_shared, g_endless;
static uint32_t g_arrived, g_finished;
static char g_how;

void work(int32_t id, thread* self);
// Each thread has its own __stack_pointer, which must point somewhere before any C runs.
__asm__(
    ".globaltype __stack_pointer, i32\n"
    ".functype work (i32, i32) -> ()\n"
    ".globl wasi_thread_start\n"
    ".export_name wasi_thread_start, wasi_thread_start\n"
    ".type wasi_thread_start,@function\n"
    "wasi_thread_start:\n"
    ".functype wasi_thread_start (i32, i32) -> ()\n"
    "local.get 1\n i32.load 0\n global.set __stack_pointer\n"
    "local.get 0\n local.get 1\n call work\n end_function\n");

static void expect(int condition, uint32_t check) {
  if (!condition) proc_exit(check);
}

static void wait_for(uint32_t* count, uint32_t wanted) {
  for (uint32_t now; (now = __atomic_load_n(count, __ATOMIC_SEQ_CST)) < wanted;) {
    __builtin_wasm_memory_atomic_wait32((int*)count, (int)now, -1);
  }
}

static void arrive(uint32_t* count) {
  __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
  __builtin_wasm_memory_atomic_notify((int*)count, kOthers + 1);
}

static wasi_nn_errno set(wasi_nn_context context, const float* values) {
  const uint32_t dims[] = {2, 2};
  const wasi_nn_tensor tensor = {dims, 2, WASI_NN_F32, {0}, (const uint8_t*)values, kValues * sizeof(float)};
  return wasi_nn_set_input(context, 0, &tensor);
}

// What goes in comes out, and nothing of another thread's.
static void use_own(const thread* self, wasi_nn_context context, uint32_t round) {
  float in[kValues], out[kValues] = {-1, -1, -1, -1};
  for (uint32_t i = 0; i < kValues; ++i) in[i] = (float)(self->number * 100000 + round * 4 + i);
  uint32_t written = 0;
  expect(set(context, in) == WASI_NN_SUCCESS, 10);
  expect(wasi_nn_compute(context) == WASI_NN_SUCCESS, 11);
  expect(wasi_nn_get_output(context, 0, (uint8_t*)out, sizeof(out), &written) == WASI_NN_SUCCESS, 12);
  expect(written == sizeof(out), 13);
  for (uint32_t i = 0; i < kValues; ++i) expect(out[i] == in[i], 14);
}

static void stress(thread* self) {
  // All of them make their first call at once, and are one guest nevertheless: each goes on with a graph of another's.
  expect(wasi_nn_load_by_name("model", 5, &g_graphs[self->number]) == WASI_NN_SUCCESS, 20);
  arrive(&g_arrived);
  wait_for(&g_arrived, kOthers);
  wasi_nn_context context;
  expect(wasi_nn_init_execution_context(g_graphs[(self->number + 1) % kOthers], &context) == WASI_NN_SUCCESS, 21);
  if (self->number == 0) {
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

static void compute_endlessly(wasi_nn_context context) {
  const float value = 1;
  const uint32_t dims[] = {1};
  const wasi_nn_tensor tensor = {dims, 1, WASI_NN_F32, {0}, (const uint8_t*)&value, sizeof(value)};
  expect(wasi_nn_set_input(context, 0, &tensor) == WASI_NN_SUCCESS, 40);
  arrive(&g_arrived);
  expect(wasi_nn_compute(context) != WASI_NN_SUCCESS, 41);  // it ends when the guest does, if that early
  expect(g_how == 's', 42);
}

static void end_badly(const thread* self) {
  if (self->number != 0) return;
  wait_for(&g_arrived, 1);
  for (volatile uint32_t i = 0; i < 3000000; ++i) {  // until the first is inside
  }
  if (g_how == 't') __builtin_trap();
  proc_exit(7);
}

__attribute__((used)) void work(int32_t id, thread* self) {
  (void)id;
  if (g_how == 's') stress(self);
  if (g_how == 't' || g_how == 'e') end_badly(self);
  if (g_how == 'r') {
    wasi_nn_context context;
    expect(wasi_nn_init_execution_context(g_endless, &context) == WASI_NN_SUCCESS, 50);
    compute_endlessly(context);
  }
  arrive(&g_finished);
}

static char* put(char* at, const char* text) {
  while (*text != 0) *at++ = *text++;
  return at;
}

static char* put_number(char* at, uint32_t number) {
  char digits[10];
  int n = 0;
  do digits[n++] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  while (n > 0) *at++ = digits[--n];
  return at;
}

static void report(void) {
  uint32_t made = 0, busy = 0, written;
  for (int i = 0; i < kOthers; ++i) {
    made += g_threads[i].made;
    busy += g_threads[i].busy;
  }
  expect(made + busy == kOthers * kRounds, 60);
  char line[64];
  char* end = put(put_number(put(put_number(put(line, "made "), made), ", busy "), busy), "\n");
  const ciovec part = {line, (uint32_t)(end - line)};
  fd_write(1, &part, 1, &written);
}

static void load_endless(void) {
  wasi_nn_graph graph;
  expect(wasi_nn_load_by_name("endless", 7, &graph) == WASI_NN_SUCCESS, 70);
  g_endless = graph;
}

__attribute__((export_name("_start"))) void start(void) {
  static char* argv[8];
  static char buffer[256];
  uint32_t count, size;
  expect(args_sizes_get(&count, &size) == 0 && count == 2 && size <= sizeof(buffer), 2);
  expect(args_get(argv, buffer) == 0, 3);
  g_how = argv[1][0];
  if (g_how != 's') load_endless();
  for (uint32_t i = 0; i < kOthers; ++i) {
    g_threads[i].stack_top = g_stacks[i] + kStack;
    g_threads[i].number = i;
    expect(thread_spawn(&g_threads[i]) > 0, 4);
  }
  if (g_how == 's') {
    wait_for(&g_finished, kOthers);
    report();
  } else if (g_how == 'r') {
    wait_for(&g_arrived, kOthers);
  } else {
    wasi_nn_context context;
    expect(wasi_nn_init_execution_context(g_endless, &context) == WASI_NN_SUCCESS, 71);
    compute_endlessly(context);
  }
}
