// For nn03_languages_test.py: infers with wasi_nn_async.h. What it does, its first argument says.
#include <stdio.h>
#include <string.h>

#include "wasi_nn_async.h"

enum { MOST = 16 };

static void say(wasi_nn_error error) {
  wasi_nn_list text;
  wasi_nn_error_data(error, &text);
  printf("%u: %.*s\n", (unsigned)wasi_nn_error_code(error), (int)text.count, (const char*)text.items);
  wasi_nn_list_free(&text);
  wasi_nn_error_drop(error);
}

static wasi_nn_context context_of(const wasi_nn_result* graph) {
  wasi_nn_result context;
  wasi_nn_init_execution_context(graph->handle, &context);
  wasi_nn_graph_drop(graph->handle);
  return context.handle;
}

static wasi_nn_named_tensor input_of(float value) {
  const uint32_t one = 1;
  const wasi_nn_named_tensor input = {"x", 1, wasi_nn_tensor_new(&one, 1, WASI_NN_FP32, &value, sizeof value)};
  return input;
}

static float value_of(wasi_nn_outputs* outputs) {
  wasi_nn_list bytes;
  float value;
  wasi_nn_tensor_data(outputs->list.items[0].tensor, &bytes);
  memcpy(&value, bytes.items, sizeof value);
  wasi_nn_list_free(&bytes);
  wasi_nn_outputs_free(outputs);
  return value;
}

// Loads all models at once, computes with all at once, and prints the sum of the outputs: 1, 2, 3 …
static int add(int n, char** models) {
  wasi_nn_result graphs[MOST];
  wasi_nn_outputs outputs[MOST];
  wasi_nn_named_tensor inputs[MOST];
  const wasi_nn_tasks tasks = wasi_nn_tasks_new();
  int going = 0;
  for (int i = 0; i < n; ++i) {
    going += wasi_nn_tasks_add(tasks, wasi_nn_load_by_name_begin(models[i], strlen(models[i]), &graphs[i]));
  }
  for (; going > 0; --going) wasi_nn_tasks_wait(tasks);
  for (int i = 0; i < n; ++i) {
    if (!graphs[i].is_error) continue;
    say(graphs[i].handle);
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    inputs[i] = input_of((float)(i + 1));
    going += wasi_nn_tasks_add(tasks, wasi_nn_compute_begin(context_of(&graphs[i]), &inputs[i], 1, &outputs[i]));
  }
  for (; going > 0; --going) wasi_nn_tasks_wait(tasks);
  wasi_nn_tasks_drop(tasks);
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += value_of(&outputs[i]);
  printf("%g\n", (double)sum);
  return 0;
}

// A compute that never ends is cancelled, and then the context is free. The waiting calls work, too.
static int cancel(const char* slow, const char* model) {
  wasi_nn_result graph;
  wasi_nn_outputs outputs;
  wasi_nn_load_by_name(slow, strlen(slow), &graph);
  const wasi_nn_context context = context_of(&graph);
  const wasi_nn_named_tensor input = input_of(1);
  const wasi_nn_task task = wasi_nn_compute_begin(context, &input, 1, &outputs);
  const wasi_nn_named_tensor other = input_of(1);
  wasi_nn_outputs busy;
  wasi_nn_compute(context, &other, 1, &busy);
  say(busy.error);
  printf("%s\n", wasi_nn_task_cancel(task) ? "cancelled" : "too late");
  wasi_nn_context_drop(context);
  wasi_nn_load_by_name(model, strlen(model), &graph);
  const wasi_nn_named_tensor last = input_of(7);
  wasi_nn_compute(context_of(&graph), &last, 1, &outputs);
  printf("%g\n", (double)value_of(&outputs));
  return 0;
}

static int speak(const char* model, const char* text, int most) {
  wasi_nn_result graph;
  wasi_nn_load_by_name(model, strlen(model), &graph);
  const uint32_t one = 1;
  const wasi_nn_named_tensor prompt = {"x", 1, wasi_nn_tensor_new(&one, 1, WASI_NN_U8, text, strlen(text))};
  wasi_nn_generation generation;
  wasi_nn_compute_stream(context_of(&graph), &prompt, 1, &generation);
  wasi_nn_piece piece;
  for (int i = 0; i < most; ++i) {
    if (!wasi_nn_next_piece(&generation, &piece)) {
      const wasi_nn_result end = wasi_nn_generation_end(&generation);
      if (end.is_error) say(end.handle);
      return end.is_error;
    }
    printf("%.*s: %.*s\n", (int)piece.name.count, (const char*)piece.name.items, (int)piece.bytes.count,
           (const char*)piece.bytes.items);
    wasi_nn_list_free(&piece.name);
    wasi_nn_list_free(&piece.bytes);
  }
  wasi_nn_generation_drop(&generation);
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 2 && argc < MOST && strcmp(argv[1], "add") == 0) return add(argc - 2, argv + 2);
  if (argc == 4 && strcmp(argv[1], "cancel") == 0) return cancel(argv[2], argv[3]);
  if (argc == 4 && strcmp(argv[1], "speak") == 0) return speak(argv[2], argv[3], 1000);
  if (argc == 4 && strcmp(argv[1], "begin") == 0) return speak(argv[2], argv[3], 1);
  return 2;
}
