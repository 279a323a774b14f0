// component_killers ENCODING HONEST KILLER: brings a model that is made to end who computes it, with one number as its input;
// afterwards a good one of the same format, for digits, and the host's.
#include "component.h"

static wasi_nn_result LoadFile(const char* path, wasi_nn_encoding encoding) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    printf("cannot open %s\n", path);
    exit(71);
  }
  fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  void* bytes = malloc(size);
  const wasi_nn_builder builder = {bytes, fread(bytes, 1, size, file)};
  fclose(file);
  wasi_nn_result graph;
  wasi_nn_load(&builder, 1, encoding, WASI_NN_TARGET_CPU, &graph);
  free(bytes);
  return graph;
}

static bool IsInvalidArgument(const wasi_nn_outputs* outputs) {
  return outputs->is_error && wasi_nn_error_code(outputs->error) == WASI_NN_INVALID_ARGUMENT;
}

// Loads, makes a context and computes, as far as it gets.
static void Try(const char* path, wasi_nn_encoding encoding) {
  static const uint32_t dims[] = {1};
  static const float one[] = {1};
  const wasi_nn_graph graph = TellResult("load", LoadFile(path, encoding));
  if (graph == 0) return;
  wasi_nn_result context;
  wasi_nn_init_execution_context(graph, &context);
  if (context.is_error) {
    TellResult("context", context);
    return;
  }
  const wasi_nn_named_tensor input = Named("0", wasi_nn_tensor_new(dims, 1, WASI_NN_FP32, one, sizeof(one)));
  wasi_nn_outputs outputs;
  wasi_nn_compute(context.handle, &input, 1, &outputs);
  if (IsInvalidArgument(&outputs)) {  // it has no input
    wasi_nn_outputs_free(&outputs);
    wasi_nn_compute(context.handle, &input, 0, &outputs);
  }
  TellOutputs("compute", &outputs, false);
}

// Recognises the two with a model of its own.
static void InferWith(const char* path, wasi_nn_encoding encoding) {
  const char* what = "a good model";
  wasi_nn_result result = LoadFile(path, encoding);
  if (!result.is_error) wasi_nn_init_execution_context(result.handle, &result);
  if (result.is_error) {
    TellResult(what, result);
    return;
  }
  const wasi_nn_named_tensor image = Named("0", NewTwo());
  wasi_nn_outputs outputs;
  wasi_nn_compute(result.handle, &image, 1, &outputs);
  if (outputs.is_error) {
    TellOutputs(what, &outputs, false);
    return;
  }
  printf("%s: %s\n", what, IsTwo(outputs.list.items[0].tensor) ? "a 2" : "something else");
}

int main(int argc, char** argv) {
  if (argc != 4) return 71;
  const wasi_nn_encoding encoding = (wasi_nn_encoding)atoi(argv[1]);
  HonestInference();
  Try(argv[3], encoding);
  InferWith(argv[2], encoding);
  HonestInference();
}
