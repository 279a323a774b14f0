// component_quotas WHAT: makes one thing again and again, and drops none.
#include "component.h"

enum { kTimes = 2000, kMoreTensorsThanAllowed = 20000 };
static int g_success, g_too_large, g_other;

static bool Count(bool is_error, wasi_nn_error error) {
  if (!is_error) {
    ++g_success;
    return true;
  }
  ++*(wasi_nn_error_code(error) == WASI_NN_TOO_LARGE ? &g_too_large : &g_other);
  wasi_nn_error_drop(error);
  return false;
}

static void Graphs(void) {
  for (int i = 0; i < kTimes; ++i) {
    wasi_nn_result graph;
    wasi_nn_load_by_name("digits", 6, &graph);
    Count(graph.is_error, graph.handle);
  }
}

static void Contexts(void) {
  const wasi_nn_graph graph = LoadNamed("digits");
  for (int i = 0; i < kTimes; ++i) {
    wasi_nn_result context;
    wasi_nn_init_execution_context(graph, &context);
    Count(context.is_error, context.handle);
  }
}

static void Outputs(void) {
  const wasi_nn_context context = NewContext("digits");
  wasi_nn_tensor last = 0;
  for (int i = 0; i < kTimes; ++i) {
    const wasi_nn_named_tensor image = Named("image", NewTwo());
    wasi_nn_outputs outputs;
    wasi_nn_compute(context, &image, 1, &outputs);
    if (!Count(outputs.is_error, outputs.error)) continue;
    last = outputs.list.items[0].tensor;
    free((void*)outputs.list.items[0].name);
    free(outputs.list.items);
  }
  wasi_nn_tensor_drop(last);
}

// The constructor of a tensor can only trap.
static void Tensors(void) {
  for (int i = 0; i < kMoreTensorsThanAllowed; ++i) NewTwo();
}

static void Bytes(void) {
  enum { kMegabytes = 8 };
  const uint32_t dims[] = {kMegabytes << 20};
  void* data = malloc(kMegabytes << 20);
  for (int i = 0; i < kTimes; ++i) wasi_nn_tensor_new(dims, 1, WASI_NN_U8, data, kMegabytes << 20);
}

// Nor is there a way to say that there may be no more errors.
static void Errors(void) {
  for (int i = 0; i < kTimes; ++i) {
    wasi_nn_result graph;
    wasi_nn_load_by_name("nothing", 7, &graph);
  }
}

// Of a model with a long name.
static void LongErrors(void) {
  const wasi_nn_context context = NewContext("long");
  for (int i = 0; i < 64; ++i) {
    wasi_nn_outputs outputs;
    wasi_nn_compute(context, NULL, 0, &outputs);
    ++*(outputs.is_error && wasi_nn_error_code(outputs.error) == WASI_NN_INVALID_ARGUMENT ? &g_other : &g_success);
  }
}

// All that a guest does in its life, without holding any of it.
static void Nothing(void) {
  for (int i = 0; i < kTimes; ++i) {
    const wasi_nn_context context = NewContext("digits");
    wasi_nn_outputs outputs = ComputeTwo(context);
    wasi_nn_context_drop(context);
    Count(!IsTwo(outputs.list.items[0].tensor), 0);
    wasi_nn_outputs_free(&outputs);
    wasi_nn_result graph;
    wasi_nn_load_by_name("nothing", 7, &graph);
    Count(graph.is_error, graph.handle);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* what;
    void (*make)(void);
  } kThings[] = {{"graphs", Graphs}, {"contexts", Contexts}, {"outputs", Outputs}, {"tensors", Tensors},
                 {"bytes", Bytes},   {"errors", Errors},     {"nothing", Nothing}, {"long errors", LongErrors}};
  HonestInference();
  for (size_t i = 0; i < sizeof(kThings) / sizeof(*kThings); ++i) {
    if (argc != 2 || strcmp(argv[1], kThings[i].what) != 0) continue;
    kThings[i].make();
    printf("%s: %d success %d too_large %d other\n", argv[1], g_success, g_too_large, g_other);
    HonestInference();
    return 0;
  }
  return 71;
}
