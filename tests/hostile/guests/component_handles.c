// component_handles HOW: something for which the canonical ABI has no error but a trap.
#include "component.h"

static const uint32_t kEnd = 0xfffffff0;
static wasi_nn_result g_result;
static wasi_nn_outputs g_outputs;

static wasi_nn_context Context(void) { return NewContext("digits"); }

static void Twice(void) {
  const wasi_nn_tensor image = NewTwo();
  const wasi_nn_named_tensor inputs[] = {Named("image", image), Named("0", image)};
  wasi_nn_compute(Context(), inputs, 2, &g_outputs);
}

static void AfterCompute(void) {
  const wasi_nn_named_tensor image = Named("image", NewTwo());
  wasi_nn_compute(Context(), &image, 1, &g_outputs);
  wasi_nn_outputs_free(&g_outputs);  // the output may have got the number of the input
  wasi_nn_tensor_drop(image.tensor);
}

static void AfterFailedCompute(void) {
  const wasi_nn_named_tensor image = Named("nothing", NewTwo());
  const wasi_nn_context context = Context();
  wasi_nn_compute(context, &image, 1, &g_outputs);
  wasi_nn_compute(context, &image, 1, &g_outputs);
}

static void DropTwice(void) {
  const wasi_nn_tensor image = NewTwo();
  wasi_nn_tensor_drop(image);
  wasi_nn_tensor_drop(image);
}

static void DeadError(void) {
  wasi_nn_load_by_name("nothing", 7, &g_result);
  wasi_nn_error_drop(g_result.handle);
  wasi_nn_error_code(g_result.handle);
}

static void ForgedMost(void) { wasi_nn_context_drop(~0u); }
static void GraphAsInput(void) {
  const wasi_nn_named_tensor image = Named("image", LoadNamed("digits"));
  wasi_nn_compute(Context(), &image, 1, &g_outputs);
}

static void UnknownTarget(void) {
  const wasi_nn_builder builder = {"", 0};
  wasi_nn_load(&builder, 1, WASI_NN_ENCODING_ONNX, 3, &g_result);
}

static void NoUtf8Input(void) {
  const wasi_nn_named_tensor image = Named("\xc3", NewTwo());
  wasi_nn_compute(Context(), &image, 1, &g_outputs);
}

static void DataOutside(void) { wasi_nn_tensor_new(kImageDims, 4, WASI_NN_FP32, Two(), 0x7fffffff); }
static void InputsOutside(void) { wasi_nn_compute(Context(), (const wasi_nn_named_tensor*)kEnd, 16, &g_outputs); }
static void ResultOutside(void) { wasi_nn_load_by_name("digits", 6, (wasi_nn_result*)kEnd); }
static const struct {
  const char* how;
  void (*attack)(void);
} kAttacks[] = {
    {"twice", Twice},
    {"after-compute", AfterCompute},
    {"after-failed-compute", AfterFailedCompute},
    {"drop-twice", DropTwice},
    {"dead-error", DeadError},
    {"forged-most", ForgedMost},
    {"graph-as-input", GraphAsInput},
    {"unknown-target", UnknownTarget},
    {"no-utf8-input", NoUtf8Input},
    {"data-outside", DataOutside},
    {"inputs-outside", InputsOutside},
    {"result-outside", ResultOutside},
};

int main(int argc, char** argv) {
  // What a trap leaves behind is the host's to free: a megabyte, ten contexts.
  static float data[1 << 18];
  const uint32_t dims[] = {1 << 18};
  HonestInference();
  wasi_nn_tensor_new(dims, 1, WASI_NN_FP32, data, sizeof(data));
  for (int i = 0; i < 10; ++i) NewContext("digits");
  for (size_t i = 0; i < sizeof(kAttacks) / sizeof(*kAttacks); ++i) {
    if (argc == 2 && strcmp(argv[1], kAttacks[i].how) == 0) {
      kAttacks[i].attack();
      printf("%s: no trap\n", argv[1]);
      return 0;
    }
  }
  return 71;
}
