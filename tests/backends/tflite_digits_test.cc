// The digits network: float, and quantised to bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "backends/test_host.h"
#include "backends/tflite_native.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
// What is not used of stb is not our concern.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>

#include "support/this_build.h"
#pragma GCC diagnostic pop

namespace wasinn::test {
namespace {

struct Image {
  std::string pixels;  // 64 bytes
  int label;
};

std::vector<Image> HeldOutImages() {
  std::vector<Image> images;
  for (const auto& entry : std::filesystem::directory_iterator(testing::InSources("tests/models/digits/heldout"))) {
    const std::string name = entry.path().filename().string();
    const std::string file = ReadFile(entry.path().string());
    int width = 0, height = 0, channels = 0;
    stbi_uc* pixels = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()),
                                            static_cast<int>(file.size()), &width, &height, &channels, 1);
    if (pixels == nullptr || width != 8 || height != 8) throw std::runtime_error(name);
    images.push_back({std::string(reinterpret_cast<char*>(pixels), 64), name.at(name.find("label-") + 6) - '0'});
    stbi_image_free(pixels);
  }
  return images;
}

template <typename Number>
int Best(const Tensor& tensor) {
  const auto values = tensor.As<Number>();
  return static_cast<int>(std::ranges::max_element(values) - values.begin());
}

TEST(TfLiteDigits, AreRecognisedAsTensorFlowLiteDoes) {
  const std::vector<Image> images = HeldOutImages();
  ASSERT_EQ(images.size(), 360u);
  const Host host;
  for (const bool xnnpack : {true, false}) {
    LoadOptions options = TfLiteOptions();
    options.host_config = xnnpack ? "{}" : R"({"xnnpack": false})";
    const std::string bytes = ReadFile(testing::InSources("models/digits.tflite"));
    const Model model(host, bytes, options);
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
    EXPECT_STREQ(model.input(0).name, "image");
    EXPECT_STREQ(model.output(0).name, "probabilities");
    Context context(model);
    int right = 0;
    for (const Image& image : images) {
      std::vector<float> values;
      for (const char pixel : image.pixels) values.push_back(static_cast<float>(static_cast<uint8_t>(pixel)) / 255.0f);
      const Tensor in = Floats({1, 1, 8, 8}, values);
      ASSERT_TRUE(context.Set(0, in));
      ASSERT_TRUE(context.Compute());
      Tensor out;
      ASSERT_TRUE(context.Get(0, &out));
      right += Best<float>(out) == image.label ? 1 : 0;
      ASSERT_EQ(out.bytes, RunTfLite(bytes, {in}, xnnpack).at(0).bytes);
    }
    EXPECT_GE(right, 350) << "97 %";
  }
}

TEST(TfLiteDigits, QuantisedOnesTakeAndGiveBytes) {
  const std::vector<Image> images = HeldOutImages();
  const std::string bytes = ReadFile(testing::InSources("models/digits_int8.tflite"));
  const Host host;
  const Model model(host, bytes, TfLiteOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_EQ(model.input(0).dtype, WASINN_U8);
  EXPECT_EQ(model.output(0).dtype, WASINN_U8);
  Context context(model);
  int right = 0;
  for (const Image& image : images) {
    const Tensor in{WASINN_U8, {1, 1, 8, 8}, image.pixels};
    ASSERT_TRUE(context.Set(0, in));
    ASSERT_TRUE(context.Compute());
    Tensor out;
    ASSERT_TRUE(context.Get(0, &out));
    right += Best<uint8_t>(out) == image.label ? 1 : 0;
    ASSERT_EQ(out.bytes, RunTfLite(bytes, {in}).at(0).bytes);
  }
  EXPECT_GE(right, 350) << "97 %";
}

TEST(TfLiteDigits, ComputeABatch) {
  const std::vector<Image> images = HeldOutImages();
  const std::string bytes = ReadFile(testing::InSources("models/digits.tflite"));
  const Host host;
  const Model model(host, bytes, TfLiteOptions());
  Context context(model);
  for (const size_t n : {1, 3, 64, 2}) {
    std::vector<float> values;
    for (size_t i = 0; i < n; ++i) {
      for (const char pixel : images[i].pixels)
        values.push_back(static_cast<float>(static_cast<uint8_t>(pixel)) / 255.0f);
    }
    const Tensor in = Floats({static_cast<int64_t>(n), 1, 8, 8}, values);
    ASSERT_TRUE(context.Set(0, in));
    const Result computed = context.Compute();
    ASSERT_TRUE(computed) << computed.message;
    Tensor out;
    ASSERT_TRUE(context.Get(0, &out));
    EXPECT_EQ(out.dims, (std::vector<int64_t>{static_cast<int64_t>(n), 10}));
    EXPECT_EQ(out.bytes, RunTfLite(bytes, {in}).at(0).bytes) << n;
  }
}

}  // namespace
}  // namespace wasinn::test
