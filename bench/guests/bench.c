// The guest of `wasinn bench`: what a guest does for one inference and nothing else. The host writes the descriptions
// of the tensors into its memory, and then calls iterate() once for each inference, so that the clock is the host's.
//
// With BENCH_ONCE an inference is one call, wasinn's compute_once.
//
// No libc: nothing here may cost anything beside the calls of wasi-nn.
#include <wasi_nn_ext.h>

#define EXPORT(name) __attribute__((export_name(name)))

// As bench/guest.cc writes them.
typedef struct bench_input {
  uint32_t index;
  wasi_nn_tensor tensor;
} bench_input;

typedef struct bench_output {
  uint32_t index;
  void* buffer;
  uint32_t size;
  uint32_t written;
} bench_output;

enum { ALIGNMENT = 64, PAGE = 65536 };

extern unsigned char __heap_base;  // NOLINT(bugprone-reserved-identifier): the linker's

static uintptr_t heap_top;
static wasi_nn_context context;
static const bench_input* inputs;
static bench_output* outputs;
static uint32_t n_inputs, n_outputs;

// Memory for the host to fill, zeroed; NULL if there is no more.
EXPORT("reserve") void* reserve(uint32_t bytes) {
  if (heap_top == 0) heap_top = (uintptr_t)&__heap_base;
  const uint64_t start = ((uint64_t)heap_top + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  const uint64_t pages = (start + bytes + PAGE - 1) / PAGE;
  const uint64_t have = __builtin_wasm_memory_size(0);
  if (pages > PAGE || (pages > have && __builtin_wasm_memory_grow(0, pages - have) == (uintptr_t)-1)) return 0;
  heap_top = (uintptr_t)(start + bytes);
  return (void*)(uintptr_t)start;  // NOLINT(performance-no-int-to-ptr): an address in linear memory
}

#ifdef BENCH_ONCE
static wasinn_input* once_inputs;
static wasinn_output* once_outputs;

static void prepare_once(void) {
  once_inputs = reserve(n_inputs * sizeof(wasinn_input));
  once_outputs = reserve(n_outputs * sizeof(wasinn_output));
  if (once_inputs == 0 || once_outputs == 0) __builtin_trap();
  for (uint32_t i = 0; i < n_inputs; ++i) once_inputs[i] = (wasinn_input){0, inputs[i].index, inputs[i].tensor};
  for (uint32_t i = 0; i < n_outputs; ++i) {
    once_outputs[i] = (wasinn_output){0, outputs[i].index, outputs[i].buffer, outputs[i].size, 0};
  }
}

// One inference. Returns the errno.
EXPORT("iterate") wasi_nn_errno iterate(void) {
  return wasinn_compute_once(context, once_inputs, n_inputs, once_outputs, n_outputs);
}
#else
static void prepare_once(void) {}

// One inference. Returns the errno of the first call that fails.
EXPORT("iterate") wasi_nn_errno iterate(void) {
  wasi_nn_errno error = WASI_NN_SUCCESS;
  for (uint32_t i = 0; i < n_inputs && error == WASI_NN_SUCCESS; ++i) {
    error = wasi_nn_set_input(context, inputs[i].index, &inputs[i].tensor);
  }
  if (error == WASI_NN_SUCCESS) error = wasi_nn_compute(context);
  for (uint32_t i = 0; i < n_outputs && error == WASI_NN_SUCCESS; ++i) {
    bench_output* output = &outputs[i];
    error = wasi_nn_get_output(context, output->index, output->buffer, output->size, &output->written);
  }
  return error;
}
#endif

// Names the model and what each inference sets and gets. Returns the errno.
EXPORT("prepare")
wasi_nn_errno prepare(const char* name, uint32_t name_len, const bench_input* in, uint32_t n_in, bench_output* out,
                      uint32_t n_out) {
  inputs = in;
  n_inputs = n_in;
  outputs = out;
  n_outputs = n_out;
  prepare_once();
  wasi_nn_graph graph;
  const wasi_nn_errno error = wasi_nn_load_by_name(name, name_len, &graph);
  return error != WASI_NN_SUCCESS ? error : wasi_nn_init_execution_context(graph, &context);
}

// Inferences in a loop of the guest's own, as guests have.
EXPORT("iterate_many") wasi_nn_errno iterate_many(uint32_t n) {
  wasi_nn_errno error = WASI_NN_SUCCESS;
  for (uint32_t i = 0; i < n && error == WASI_NN_SUCCESS; ++i) error = iterate();
  return error;
}

// What calling iterate() costs by itself.
EXPORT("nothing") wasi_nn_errno nothing(void) { return WASI_NN_SUCCESS; }
