// A real classifier on images that it never saw: as good as natively, with the same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "backends/openvino_native.h"
#include "backends/test_host.h"

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

namespace fs = std::filesystem;

// Each gray value from 0 to 1.
Tensor ImageOf(const fs::path& path) {
  const std::string file = ReadFile(path);
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> image(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()), static_cast<int>(file.size()), &width,
                            &height, &channels, 1),
      stbi_image_free);
  EXPECT_EQ(width * height, 64) << path;
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(image.get()[i]) / 255.0f;
  return Floats({1, 1, 8, 8}, values);
}

TEST(OpenVinoDigits, AreReadAsNatively) {
  const std::string root = testing::InSources("");
  const Host host;
  LoadOptions options;
  options.encoding = "openvino";
  options.keeps_bytes = true;
  options.more_bytes = {ReadFile(root + "/models/digits.bin")};
  const Model model(host, ReadFile(root + "/models/digits.xml"), options);
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  LoadOptions onnx_options;
  onnx_options.encoding = "openvino";
  const Model onnx(host, ReadFile(root + "/models/digits.onnx"), onnx_options);
  ASSERT_TRUE(onnx.loaded()) << onnx.loaded().message;
  const NativeOpenVino native;
  const auto compiled = native.Load(root + "/models/digits.xml");
  const auto compiled_onnx = native.Load(root + "/models/digits.onnx");
  Context context(model), onnx_context(onnx);
  size_t images = 0, right = 0, right_onnx = 0;
  for (const auto& entry : fs::directory_iterator(root + "/tests/models/digits/heldout")) {
    const Tensor image = ImageOf(entry.path());
    const std::string name = entry.path().filename();
    const auto label = name[name.find('-') + 1] - '0';
    const auto classify = [&](Context& with, const NativeOpenVino::Compiled& reference) {
      EXPECT_TRUE(with.Set(0, image));
      EXPECT_TRUE(with.Compute());
      Tensor out;
      EXPECT_TRUE(with.Get(0, &out));
      EXPECT_EQ(out.bytes, reference.Run({image}).at(0).bytes) << name;
      const auto scores = out.As<float>();
      return std::ranges::max_element(scores) - scores.begin() == label;
    };
    ++images;
    right += classify(context, *compiled);
    right_onnx += classify(onnx_context, *compiled_onnx);
  }
  EXPECT_EQ(images, 360u);
  EXPECT_GE(static_cast<double>(right), 0.97 * static_cast<double>(images));
  EXPECT_GE(static_cast<double>(right_onnx), 0.97 * static_cast<double>(images));
}

}  // namespace
}  // namespace wasinn::test
