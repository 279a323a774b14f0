// Tensors that do not fit, under names that are none.
#include "component.h"

static wasi_nn_context g_context;

static void Compute(const char* what, const wasi_nn_named_tensor* inputs, size_t count) {
  wasi_nn_outputs outputs;
  wasi_nn_compute(g_context, inputs, count, &outputs);
  TellOutputs(what, &outputs, false);
}

static uint8_t g_bytes[4096];

static void Tensor(const char* what, const uint32_t* dims, size_t rank, wasi_nn_type type, size_t size) {
  const wasi_nn_named_tensor image = Named("image", wasi_nn_tensor_new(dims, rank, type, g_bytes, size));
  Compute(what, &image, 1);
}

static void Sizes(void) {
  Tensor("as it should be", kImageDims, 4, WASI_NN_FP32, 256);
  Tensor("a byte less", kImageDims, 4, WASI_NN_FP32, 255);
  Tensor("a byte more", kImageDims, 4, WASI_NN_FP32, 257);
  Tensor("no bytes", kImageDims, 4, WASI_NN_FP32, 0);
  Tensor("bytes of two images", kImageDims, 4, WASI_NN_FP32, 512);
}

static void Shapes(void) {
  static const uint32_t kFlat[] = {64}, kWide[] = {1, 1, 8, 9}, kMost[] = {~0u, ~0u, ~0u, ~0u},
                        kMany[] = {1, 1, 1, 1, 1, 1, 8, 8}, kWraps[] = {0x40000001, 4, 8, 8};
  Tensor("one dimension", kFlat, 1, WASI_NN_FP32, 256);
  Tensor("no dimension", kFlat, 0, WASI_NN_FP32, 4);
  Tensor("a column more", kWide, 4, WASI_NN_FP32, 288);
  Tensor("the largest dimensions", kMost, 4, WASI_NN_FP32, 256);
  Tensor("eight dimensions", kMany, 8, WASI_NN_FP32, 256);
  Tensor("a product that wraps around", kWraps, 4, WASI_NN_FP32, 1024);
  Tensor("doubles", kImageDims, 4, WASI_NN_FP64, 512);
  Tensor("integers", kImageDims, 4, WASI_NN_I32, 256);
  Tensor("half of a float", kImageDims, 4, WASI_NN_BF16, 128);
}

static void Names(void) {
  wasi_nn_named_tensor image = Named("", NewTwo());
  Compute("an empty name", &image, 1);
  image = Named("Image", NewTwo());
  Compute("an unknown name", &image, 1);
  image = Named("image", NewTwo());
  image.name_size = 6;
  Compute("a name and a NUL", &image, 1);
  image = Named("a\x1b[2Jb\nc", NewTwo());
  Compute("a name of control characters", &image, 1);
  image = Named("1", NewTwo());
  Compute("an index too large", &image, 1);
  image = Named("18446744073709551616", NewTwo());
  Compute("2 to the 64", &image, 1);
  image = Named("0", NewTwo());
  Compute("an index", &image, 1);

  enum { kMegabyte = 1 << 20 };
  char* name = malloc(kMegabyte);
  memset(name, 'x', kMegabyte);
  image = Named("", NewTwo());
  image.name = name;
  image.name_size = kMegabyte;
  Compute("a megabyte of a name", &image, 1);
  free(name);
}

static void Counts(void) {
  enum { kMany = 10000 };
  Compute("no input", NULL, 0);
  wasi_nn_named_tensor two[2] = {Named("image", NewTwo()), Named("image", NewTwo())};
  Compute("an input twice", two, 2);
  wasi_nn_named_tensor* many = malloc(kMany * sizeof(*many));
  for (int i = 0; i < kMany; ++i) many[i] = Named("image", NewTwo());
  Compute("ten thousand inputs", many, kMany);
  // They are gone, so there is room for as many again.
  for (int i = 0; i < kMany; ++i) many[i] = Named("image", NewTwo());
  Compute("ten thousand more", many, kMany);
  free(many);
}

int main(void) {
  g_context = NewContext("digits");
  void (*const attacks[])(void) = {Sizes, Shapes, Names, Counts};
  for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); ++i) {
    attacks[i]();
    HonestInference();
  }
}
