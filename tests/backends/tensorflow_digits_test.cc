// The digits network in TensorFlow's formats, on the images that it never saw.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STB_IMAGE_STATIC
#include <stb/stb_image.h>

#include "backends/tensorflow_native.h"
#include "backends/test_host.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

struct HeldOut {
  std::vector<Tensor> images;
  std::vector<int> labels;
};

HeldOut ReadHeldOut() {
  HeldOut held_out;
  for (const auto& entry : std::filesystem::directory_iterator(testing::InSources("tests/models/digits/heldout"))) {
    int width = 0, height = 0, channels = 0;
    stbi_uc* pixels = stbi_load(entry.path().c_str(), &width, &height, &channels, 1);
    if (pixels == nullptr || width != 8 || height != 8) throw std::runtime_error(entry.path().string());
    std::vector<float> values(64);
    std::transform(pixels, pixels + 64, values.begin(), [](stbi_uc byte) { return static_cast<float>(byte) / 255.0f; });
    stbi_image_free(pixels);
    held_out.images.push_back(Floats({1, 1, 8, 8}, values));
    const std::string name = entry.path().stem().string();
    held_out.labels.push_back(name.back() - '0');
  }
  return held_out;
}

// The share that the model gets right.
double Accuracy(const Model& model, const HeldOut& held_out, std::vector<std::string>* bytes) {
  Context context(model);
  int right = 0;
  for (size_t i = 0; i < held_out.images.size(); ++i) {
    EXPECT_TRUE(context.Set(0, held_out.images[i]));
    const Result computed = context.Compute();
    EXPECT_TRUE(computed) << computed.message;
    Tensor out;
    EXPECT_TRUE(context.Get(0, &out));
    const std::vector<float> scores = out.As<float>();
    right += std::ranges::max_element(scores) - scores.begin() == held_out.labels[i];
    bytes->push_back(out.bytes);
  }
  return right / static_cast<double>(held_out.images.size());
}

TEST(TensorFlowDigits, AreReadAndGiveTheBytesOfTensorFlowItself) {
  const HeldOut held_out = ReadHeldOut();
  ASSERT_EQ(held_out.images.size(), 360u);
  const Host host;
  const std::string frozen_path = testing::InSources("models/digits.pb");
  const std::string saved_folder = testing::InSources("models/digits_saved_model");
  std::vector<std::string> frozen_bytes, saved_bytes;

  const Model frozen(host, ReadFile(frozen_path), {.encoding = "tensorflow"});
  ASSERT_TRUE(frozen.loaded()) << frozen.loaded().message;
  EXPECT_STREQ(frozen.input(0).name, "image");
  EXPECT_STREQ(frozen.output(0).name, "probabilities");
  EXPECT_GE(Accuracy(frozen, held_out, &frozen_bytes), 0.97);

  const std::string saved_path = saved_folder + "/saved_model.pb";
  const Model saved(host, ReadFile(saved_path), {.encoding = "tensorflow", .path = saved_path});
  ASSERT_TRUE(saved.loaded()) << saved.loaded().message;
  EXPECT_STREQ(saved.input(0).name, "image");
  EXPECT_STREQ(saved.output(0).name, "probabilities");
  EXPECT_GE(Accuracy(saved, held_out, &saved_bytes), 0.97);

  for (size_t i = 0; i < held_out.images.size(); i += 30) {
    EXPECT_EQ(RunNativeGraph(ReadFile(frozen_path), {{"image", held_out.images[i]}}, {"probabilities"}).at(0).bytes,
              frozen_bytes[i]);
    EXPECT_EQ(RunNativeSavedModel(saved_folder, {"serve"}, {{"serving_default_image", held_out.images[i]}},
                                  {"StatefulPartitionedCall"})
                  .at(0)
                  .bytes,
              saved_bytes[i]);
  }
}

}  // namespace
}  // namespace wasinn::test
