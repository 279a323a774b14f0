// A library of a custom operator, in the form of mediapipe-custom-ops: WasinnTestTwice of floats.
#include <tensorflow/lite/c/c_api.h>
#include <tensorflow/lite/c/common.h>

// In a header that is not at hand.
void TfLiteInterpreterOptionsAddCustomOp(TfLiteInterpreterOptions* options, const char* name,
                                         const TfLiteRegistration* registration, int32_t min_version,
                                         int32_t max_version);

static const TfLiteTensor* InputOf(TfLiteContext* context, TfLiteNode* node) {
  return &context->tensors[node->inputs->data[0]];
}
static TfLiteTensor* OutputOf(TfLiteContext* context, TfLiteNode* node) {
  return &context->tensors[node->outputs->data[0]];
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  TfLiteIntArray* dims = TfLiteIntArrayCopy(InputOf(context, node)->dims);
  return context->ResizeTensor(context, OutputOf(context, node), dims);
}

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* in = InputOf(context, node);
  TfLiteTensor* out = OutputOf(context, node);
  for (size_t i = 0; i < in->bytes / sizeof(float); ++i) out->data.f[i] = 2 * in->data.f[i];
  return kTfLiteOk;
}

// Larger than a registration of any version.
static struct {
  TfLiteRegistration first;
  void* more[16];
} twice = {.first = {.prepare = Prepare, .invoke = Invoke}};

__attribute__((visibility("default"))) void wasmEdgeWasiNnTfLiteAddCustomOps(TfLiteInterpreterOptions* options) {
  TfLiteInterpreterOptionsAddCustomOp(options, "WasinnTestTwice", &twice.first, 1, 1);
}
