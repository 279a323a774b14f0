#include "formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace wasinn::testing {
namespace {

constexpr size_t kClasses = 10;

const std::vector<Format>& AllFormats() {
  static const std::vector<Format> formats = {
      {"Onnx", "onnx", "digits.onnx", {"digits.onnx"}, WASI_NN_ENCODING_ONNX},
      {"Ir", "openvino", "digits.xml", {"digits.xml", "digits.bin"}, WASI_NN_ENCODING_OPENVINO},
      // By name, for the host chooses this backend: a guest's bytes in ONNX are ONNX Runtime's.
      {"OnnxOnOpenVino", "openvino", "digits.onnx", {}},
      {"TfLite", "tflite", "digits.tflite", {"digits.tflite"}, WASI_NN_ENCODING_TENSORFLOWLITE},
      {"TfLiteInt8",
       "tflite",
       "digits_int8.tflite",
       {"digits_int8.tflite"},
       WASI_NN_ENCODING_TENSORFLOWLITE,
       "probabilities",
       "u8"},
      // TorchScript has no names of outputs.
      {"TorchScript", "torch", "digits.pt", {"digits.pt"}, WASI_NN_ENCODING_PYTORCH, "0"},
      {"FrozenGraph", "tensorflow", "digits.pb", {"digits.pb"}, WASI_NN_ENCODING_TENSORFLOW},
      // By name, for it is a folder.
      {"SavedModel",
       "tensorflow",
       "digits_saved_model",
       {},
       -1,
       "probabilities",
       "f32",
       "serving_default_image",
       "StatefulPartitionedCall"},
  };
  return formats;
}

}  // namespace

std::vector<Format> BuiltFormats() {
  const std::string built = CONFORMANCE_FRAMEWORKS;
  std::vector<Format> formats;
  std::ranges::copy_if(AllFormats(), std::back_inserter(formats), [&](const Format& format) {
    return built.find(" " + std::string(format.framework) + " ") != std::string::npos;
  });
  return formats;
}

std::vector<Format> FormatsWithBytes() {
  std::vector<Format> formats = BuiltFormats();
  std::erase_if(formats, [](const Format& format) { return format.files.empty(); });
  return formats;
}

Bytes InputsOf(const Format& format, const HeldOut& held_out) {
  Bytes inputs;
  for (const Bytes& image : held_out.images) {
    const Bytes tensor = std::string_view(format.type) == "u8" ? image : Floats(FromGrays(image));
    inputs.insert(inputs.end(), tensor.begin(), tensor.end());
  }
  return inputs;
}

size_t CountRight(const Format& format, const Bytes& outputs, const std::vector<size_t>& labels) {
  const bool floats = std::string_view(format.type) == "f32";
  const size_t size = kClasses * (floats ? sizeof(float) : 1);
  EXPECT_EQ(outputs.size(), size * labels.size());
  size_t right = 0;
  for (size_t i = 0; i < labels.size() && (i + 1) * size <= outputs.size(); ++i) {
    std::vector<float> scores(outputs.begin() + static_cast<ptrdiff_t>(i * size),
                              outputs.begin() + static_cast<ptrdiff_t>(i * size + kClasses));
    if (floats) std::memcpy(scores.data(), outputs.data() + i * size, size);
    right += static_cast<size_t>(std::ranges::max_element(scores) - scores.begin()) == labels[i];
  }
  return right;
}

Bytes RunReference(const Format& format, const std::filesystem::path& inputs, const std::filesystem::path& folder,
                   const std::string& dims) {
  const std::filesystem::path outputs = folder / "reference";
  std::vector<std::string> argv = LibrariesOfTheEngine();
  argv.insert(argv.end(), {std::string(CONFORMANCE_REFERENCES "/reference_") + format.framework, format.type, dims,
                           inputs, outputs, format.native_input, format.native_output, format.path()});
  const CommandResult run = RunCommand(argv, {"TF_CPP_MIN_LOG_LEVEL=3"}, "", 300);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return ReadBytes(outputs);
}

}  // namespace wasinn::testing
