// A guest without WASI and without a C library: it asks the model "digits" which digit is in the image that the
// host chose.
#include <wasi_nn.h>

static const char kImages[2][65] = {
    "0179996003963210039420000599930002526800000178000027930001985000",
    "0027993000664960000018600365592005999950012593000006800000293000",
};

// The digit with the highest score, or minus the errno of the call that failed.
__attribute__((export_name("classify"))) int classify(int image) {
  static uint32_t dims[] = {1, 1, 8, 8};
  static float pixels[64], scores[10];  // brightness 0 to 9 as 0 to 1
  for (int i = 0; i < 64; ++i) pixels[i] = (float)(kImages[image & 1][i] - '0') / 9;
  const wasi_nn_tensor tensor = {dims, 4, WASI_NN_F32, {0}, (uint8_t*)pixels, sizeof(pixels)};
  wasi_nn_graph graph;
  wasi_nn_context context;
  uint32_t written;
  wasi_nn_errno error = wasi_nn_load_by_name("digits", 6, &graph);
  if (error == 0) error = wasi_nn_init_execution_context(graph, &context);
  if (error == 0) error = wasi_nn_set_input(context, 0, &tensor);
  if (error == 0) error = wasi_nn_compute(context);
  if (error == 0) error = wasi_nn_get_output(context, 0, (uint8_t*)scores, sizeof(scores), &written);
  if (error != 0) return -(int)error;
  int best = 0;
  for (int digit = 1; digit < 10; ++digit) best = scores[digit] > scores[best] ? digit : best;
  return best;
}
