// Graph, context, output and error, dropped in every order: what is left still works.
#include "component.h"

enum { kGraph, kContext, kOutput, kError, kAll };

static uint32_t g_handles[kAll];
static int g_orders;

static void Must(bool well, const char* what) {
  if (well) return;
  printf("order %d: %s\n", g_orders, what);
  exit(70);
}

static void Make(void) {
  wasi_nn_result result;
  g_handles[kGraph] = LoadNamed("digits");
  wasi_nn_init_execution_context(g_handles[kGraph], &result);
  Must(!result.is_error, "no context");
  g_handles[kContext] = result.handle;
  wasi_nn_outputs outputs = ComputeTwo(result.handle);
  g_handles[kOutput] = outputs.list.items[0].tensor;
  outputs.list.items[0].tensor = 0;
  wasi_nn_outputs_free(&outputs);
  wasi_nn_load_by_name("nothing", 7, &result);
  Must(result.is_error, "no error");
  g_handles[kError] = result.handle;
}

static void Check(int what, uint32_t handle) {
  if (what == kGraph) {
    wasi_nn_result context;
    wasi_nn_init_execution_context(handle, &context);
    Must(!context.is_error, "the graph makes no context");
    wasi_nn_context_drop(context.handle);
  } else if (what == kContext) {
    wasi_nn_outputs outputs = ComputeTwo(handle);
    Must(IsTwo(outputs.list.items[0].tensor), "the context does not compute");
    wasi_nn_outputs_free(&outputs);
  } else if (what == kOutput) {
    Must(IsTwo(handle), "the output has other bytes");
  } else {
    wasi_nn_list text;
    Must(wasi_nn_error_code(handle) == WASI_NN_NOT_FOUND, "the error has another code");
    wasi_nn_error_data(handle, &text);
    Must(text.count > 0, "the error has no text");
    wasi_nn_list_free(&text);
  }
}

static void Drop(int what, uint32_t handle) {
  void (*const drops[kAll])(uint32_t) = {wasi_nn_graph_drop, wasi_nn_context_drop, wasi_nn_tensor_drop,
                                         wasi_nn_error_drop};
  drops[what](handle);
}

static void DropInOrder(const int* order) {
  Make();
  for (int dropped = 0; dropped < kAll; ++dropped) {
    Drop(order[dropped], g_handles[order[dropped]]);
    for (int i = dropped + 1; i < kAll; ++i) Check(order[i], g_handles[order[i]]);
  }
  ++g_orders;
}

static void EveryOrder(int* order, int from) {
  if (from == kAll) DropInOrder(order);
  for (int i = from; i < kAll; ++i) {
    const int first = order[from];
    order[from] = order[i];
    order[i] = first;
    EveryOrder(order, from + 1);
    order[i] = order[from];
    order[from] = first;
  }
}

int main(void) {
  int order[kAll] = {kGraph, kContext, kOutput, kError};
  EveryOrder(order, 0);
  printf("%d orders\n", g_orders);
  HonestInference();
}
