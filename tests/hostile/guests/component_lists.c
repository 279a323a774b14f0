// component_lists [WHAT MEGABYTES]: lists of nothing and of too much; with WHAT, one of so many zeros.
#include "component.h"

static wasi_nn_result g_result;
static wasi_nn_outputs g_outputs;
static size_t g_bytes;

// Fresh memory, which is all zeros, and which nobody has touched.
static void* Huge(void) {
  const size_t pages = __builtin_wasm_memory_grow(0, g_bytes >> 16);
  if (pages == (size_t)-1) exit(72);
  return (void*)(pages << 16);
}

static void Load(const char* what, const wasi_nn_builder* builders, size_t count) {
  wasi_nn_load(builders, count, WASI_NN_ENCODING_ONNX, WASI_NN_TARGET_CPU, &g_result);
  TellResult(what, g_result);
}

static void Few(void) {
  static wasi_nn_builder builders[10000];
  Load("no builder", NULL, 0);
  Load("an empty builder", builders, 1);
  Load("two empty builders", builders, 2);
  Load("ten thousand builders", builders, 10000);
  wasi_nn_load_by_name(NULL, 0, &g_result);
  TellResult("an empty name of a model", g_result);
  char name[3000];
  memset(name, 'x', sizeof(name));
  wasi_nn_load_by_name(name, sizeof(name), &g_result);
  TellResult("a long name of a model", g_result);
  HonestInference();
}

static void Data(void) {
  const uint32_t dims[] = {g_bytes};
  wasi_nn_tensor_new(dims, 1, WASI_NN_U8, Huge(), g_bytes);
  printf("data: success\n");
}
static void Dims(void) { wasi_nn_tensor_new(Huge(), g_bytes / 4, WASI_NN_U8, Two(), 1); }
static void Name(void) {
  wasi_nn_load_by_name(Huge(), g_bytes, &g_result);
  TellResult("name", g_result);
}
static void Builder(void) {
  const wasi_nn_builder builder = {Huge(), g_bytes};
  Load("builder", &builder, 1);
}
static void Builders(void) { Load("builders", Huge(), g_bytes / sizeof(wasi_nn_builder)); }
// The same bytes as often as a model may have parts.
static void ManyBuilders(void) {
  static wasi_nn_builder builders[16];
  void* huge = Huge();
  for (int i = 0; i < 16; ++i) builders[i] = (wasi_nn_builder){huge, g_bytes};
  Load("many-builders", builders, 16);
}
static void Inputs(void) {
  wasi_nn_compute(NewContext("digits"), Huge(), g_bytes / sizeof(wasi_nn_named_tensor), &g_outputs);
  TellOutputs("inputs", &g_outputs, false);
}
static void InputName(void) {
  const wasi_nn_named_tensor image = {Huge(), g_bytes, NewTwo()};
  wasi_nn_compute(NewContext("digits"), &image, 1, &g_outputs);
  TellOutputs("input-name", &g_outputs, false);
}

int main(int argc, char** argv) {
  static const struct {
    const char* what;
    void (*make)(void);
  } kLists[] = {{"data", Data},       {"dims", Dims},           {"name", Name},
                {"builder", Builder}, {"builders", Builders},   {"many-builders", ManyBuilders},
                {"inputs", Inputs},   {"input-name", InputName}};
  HonestInference();
  if (argc < 3) Few();
  g_bytes = argc < 3 ? 0 : (size_t)atoi(argv[2]) << 20;
  for (size_t i = 0; argc == 3 && i < sizeof(kLists) / sizeof(*kLists); ++i) {
    if (strcmp(argv[1], kLists[i].what) != 0) continue;
    kLists[i].make();
    HonestInference();
  }
}
