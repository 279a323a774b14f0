// A guest without WASI: it takes its work from functions of the test, and gives back what wasi-nn answers. Compiled for
// the first version of WebAssembly, which every engine runs.
#include <wasi_nn.h>

#define TEST(name) __attribute__((import_module("test"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

// Copies the next bytes of the work, and returns how many there were.
TEST("read") uint32_t test_read(void* buffer, uint32_t size);
TEST("write") void test_write(const void* bytes, uint32_t size);
// The result of a call of wasi-nn.
TEST("answer") void test_answer(uint32_t error);

// How the work begins, as the test writes it.
typedef struct work {
  char name[16];
  uint32_t name_size;
  uint32_t dims[4];
  uint32_t size;  // of one input, in bytes
  uint32_t grow;  // pages, between one call of wasi-nn and the next
} work;

enum { kRoom = 4096 };

static work todo;
static uint8_t input[kRoom], output[kRoom];
static wasi_nn_graph graph;
static wasi_nn_context context;

static void Answer(uint32_t error) {
  test_answer(error);
  if (todo.grow > 0) (void)__builtin_wasm_memory_grow(0, todo.grow);
}

static void Infer(void) {
  const wasi_nn_tensor tensor = {todo.dims, 4, WASI_NN_F32, {0}, input, todo.size};
  uint32_t written = 0;
  Answer(wasi_nn_set_input(context, 0, &tensor));
  Answer(wasi_nn_compute(context));
  Answer(wasi_nn_get_output(context, 0, output, kRoom, &written));
  test_write(output, written);
}

// All the work: one model, and an inference for each input.
EXPORT("run") void run(void) {
  (void)test_read(&todo, sizeof todo);
  Answer(wasi_nn_load_by_name(todo.name, todo.name_size, &graph));
  Answer(wasi_nn_init_execution_context(graph, &context));
  while (test_read(input, todo.size) == todo.size) Infer();
}

EXPORT("run_and_trap") void run_and_trap(void) {
  run();
  __builtin_trap();
}

// Goes on with the context of `run`, whatever that answered.
EXPORT("again") void again(void) { Answer(wasi_nn_compute(context)); }
