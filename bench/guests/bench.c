// The guest of `wasinn bench`: it only makes an inference. The host writes the descriptions of the tensors into its
// memory, and then calls iterate() once for each inference, so that the host measures the time.
//
// With BENCH_ONCE an inference is one call, wasinn's compute_once. With BENCH_DECODE it generates texts of a language
// model, and the guest chooses the tokens.
//
// It has no libc: only the calls of wasi-nn may cost time.
#include <wasi_nn_ext.h>

#define EXPORT(name) __attribute__((export_name(name)))

// The layout in which bench/guest.cc writes them.
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
#elif defined(BENCH_DECODE)
enum { LOGITS = 6 };

static void prepare_once(void) {}

static int32_t likeliest(const float* logits, uint32_t count) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; ++i) best = logits[i] > logits[best] ? i : best;
  return (int32_t)best;
}

// Always takes the likeliest token. Inputs 0 and 1 are the prompt and the options; the dims of input 2 are the number
// of texts and the number of tokens of each. Output 0 has whole rows of logits, or the most likely token of each row.
// The next output is the guest's own, with room for all tokens, and has the texts. Text number n begins with the token
// of rank n.
EXPORT("iterate") wasi_nn_errno iterate(void) {
  wasi_nn_errno error = WASI_NN_SUCCESS;
  for (uint32_t i = 0; i < 2 && error == WASI_NN_SUCCESS; ++i) error = wasi_nn_set_input(context, i, &inputs[i].tensor);
  const uint32_t texts = inputs[2].tensor.dims[0], tokens = inputs[2].tensor.dims[1];
  bench_output* const output = &outputs[0];
  int32_t* const chosen = outputs[1].buffer;
  for (uint32_t n = 0; n < tokens; ++n) {
    const uint32_t dims[] = {texts, n};
    const wasi_nn_tensor rows = {dims, 2, WASI_NN_I32, {0}, chosen, texts * n * (uint32_t)sizeof(int32_t)};
    if (error == WASI_NN_SUCCESS) error = wasi_nn_set_input(context, 2, &rows);
    if (error == WASI_NN_SUCCESS) error = wasi_nn_compute(context);
    if (error == WASI_NN_SUCCESS) {
      error = wasi_nn_get_output(context, output->index, output->buffer, output->size, &output->written);
    }
    if (error != WASI_NN_SUCCESS) return error;
    const uint32_t count = output->written / (uint32_t)sizeof(int32_t) / (n == 0 ? 1 : texts);
    for (uint32_t i = texts; i-- > 0;) {
      for (uint32_t at = n; at-- > 0;) chosen[i * (n + 1) + at] = chosen[i * n + at];
      const int32_t* row = (const int32_t*)output->buffer + (n == 0 ? 0 : i * count);
      chosen[i * (n + 1) + n] = output->index == LOGITS ? likeliest((const float*)row, count) : row[n == 0 ? i : 0];
    }
  }
  return error;
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

// Sets the model, and the inputs and outputs of each inference. Returns the errno.
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

// Makes inferences in a loop, as real guests do.
EXPORT("iterate_many") wasi_nn_errno iterate_many(uint32_t n) {
  wasi_nn_errno error = WASI_NN_SUCCESS;
  for (uint32_t i = 0; i < n && error == WASI_NN_SUCCESS; ++i) error = iterate();
  return error;
}

// A call that does nothing, to measure what a call of iterate() costs.
EXPORT("nothing") wasi_nn_errno nothing(void) { return WASI_NN_SUCCESS; }
