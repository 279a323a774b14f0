// Reads digits with a model of the host's, through wasi:nn: a component in C.
//
//   classify-c.component.wasm [--raw] IMAGE...
//
// The model takes gray images of 8x8 pixels, float32 [N, 1, 8, 8], and gives the probability of each class, float32
// [N, classes]: models/digits.onnx. With --raw it prints for each image: file name, class, the output's bytes in hex.

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "wasi_nn_component.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_THREAD_LOCALS
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma clang diagnostic pop

enum { kSide = 8, kPixels = kSide * kSide };
static const char kModel[] = "digits";
static const char kInput[] = "image";

// Prints what went wrong with `what`, with the host's message.
static bool Fail(const char* what, wasi_nn_error error) {
  wasi_nn_list text;
  wasi_nn_error_data(error, &text);
  fprintf(stderr, "classify: %s: %.*s\n", what, (int)text.count, (const char*)text.items);
  wasi_nn_list_free(&text);
  wasi_nn_error_drop(error);
  return false;
}

static bool LoadModel(wasi_nn_context* context) {
  wasi_nn_result graph, result;
  wasi_nn_load_by_name(kModel, strlen(kModel), &graph);
  if (graph.is_error) return Fail(kModel, graph.handle);
  wasi_nn_init_execution_context(graph.handle, &result);
  wasi_nn_graph_drop(graph.handle);  // the context keeps the graph alive
  if (result.is_error) return Fail(kModel, result.handle);
  *context = result.handle;
  return true;
}

// A gray value of 255 is 1 for the model.
static bool ReadImage(const char* path, float pixels[kPixels]) {
  int width, height, channels;
  stbi_uc* image = stbi_load(path, &width, &height, &channels, 1);
  const bool fits = image != NULL && width == kSide && height == kSide;
  if (fits) {
    for (int i = 0; i < kPixels; ++i) pixels[i] = (float)image[i] / 255.0f;
  } else {
    fprintf(stderr, "classify: %s: %s\n", path, image == NULL ? stbi_failure_reason() : "not 8x8 pixels");
  }
  stbi_image_free(image);
  return fits;
}

static void Print(const char* path, const wasi_nn_list* output, bool raw) {
  const float* scores = output->items;
  size_t best = 0;
  for (size_t i = 1; i < output->count / sizeof(float); ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  if (raw) {
    printf("%s %zu ", path, best);
    for (size_t i = 0; i < output->count; ++i) printf("%02x", ((const uint8_t*)output->items)[i]);
    printf("\n");
  } else {
    printf("%s  %zu  %5.1f %%\n", path, best, (double)scores[best] * 100);
  }
}

static bool Classify(wasi_nn_context context, const char* path, bool raw) {
  static const uint32_t kDims[] = {1, 1, kSide, kSide};
  float pixels[kPixels];
  if (!ReadImage(path, pixels)) return false;
  const wasi_nn_tensor tensor = wasi_nn_tensor_new(kDims, 4, WASI_NN_FP32, pixels, sizeof(pixels));
  const wasi_nn_named_tensor input = {kInput, strlen(kInput), tensor};
  wasi_nn_outputs outputs;
  wasi_nn_compute(context, &input, 1, &outputs);
  if (outputs.is_error) return Fail(path, outputs.error);
  wasi_nn_list bytes;
  wasi_nn_tensor_data(outputs.list.items[0].tensor, &bytes);
  Print(path, &bytes, raw);
  wasi_nn_list_free(&bytes);
  wasi_nn_outputs_free(&outputs);
  return true;
}

int main(int argc, char** argv) {
  const bool raw = argc > 1 && strcmp(argv[1], "--raw") == 0;
  wasi_nn_context context;
  if (argc < 2 + raw) {
    fprintf(stderr, "usage: classify-c.component.wasm [--raw] IMAGE...\n");
    return 2;
  }
  if (!LoadModel(&context)) return 1;
  bool ok = true;
  for (int i = 1 + raw; i < argc; ++i) ok = Classify(context, argv[i], raw) && ok;
  wasi_nn_context_drop(context);
  return ok ? 0 : 1;
}
