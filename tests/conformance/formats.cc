#include "formats.h"

#include <unistd.h>

#include "support/this_build.h"

namespace wasinn::testing {

namespace fs = std::filesystem;

namespace {

constexpr size_t kClasses = 10;

// FNV-1a, which is the same in every process.
uint64_t Hash(uint64_t hash, const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

void AddTime(uint64_t& hash, const fs::path& path) {
  const auto time = fs::last_write_time(path).time_since_epoch().count();
  hash = Hash(hash, &time, sizeof time);
}

// The file for the outputs of a framework called directly: its name is a hash of the arguments except the `places`, the
// inputs, and the times at which the program, the frameworks' folder and the model were written.
fs::path KeptReference(const std::vector<std::string>& argv, const std::vector<std::string>& places,
                       const Bytes& inputs, const std::vector<fs::path>& made_from) {
  uint64_t hash = Hash(0xcbf29ce484222325, inputs.data(), inputs.size());
  for (const std::string& arg : argv) {
    if (std::ranges::find(places, arg) == places.end()) hash = Hash(hash, arg.c_str(), arg.size() + 1);
  }
  for (const fs::path& path : made_from) {
    if (!fs::exists(path)) continue;
    AddTime(hash, path);
    if (!fs::is_directory(path)) continue;
    std::vector<fs::path> inside;
    for (const auto& entry : fs::recursive_directory_iterator(path)) inside.push_back(entry.path());
    std::ranges::sort(inside);
    for (const fs::path& file : inside) AddTime(hash, file);
  }
  return fs::path(InTestsBuild("cache/references")) / std::to_string(hash);
}

// Whole or not at all, for other tests look there at the same time.
void Keep(const fs::path& outputs, const fs::path& kept) {
  fs::create_directories(kept.parent_path());
  const fs::path part = kept.string() + "." + std::to_string(::getpid());
  fs::copy_file(outputs, part, fs::copy_options::overwrite_existing);
  fs::rename(part, kept);
}

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

std::vector<Format> BuiltFormats() { return Built(AllFormats(), &Format::framework); }

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

Bytes RunReference(const Format& format, const fs::path& inputs, const fs::path& folder, const std::string& dims) {
  const fs::path outputs = folder / "reference";
  const std::string program = InTestsBuild("bin/reference_") + format.framework;
  std::vector<std::string> argv = LibrariesOfTheEngine();
  argv.insert(argv.end(),
              {program, format.type, dims, inputs, outputs, format.native_input, format.native_output, format.path()});
  // Every engine and form asks the same of a framework, and to open one takes long.
  const fs::path kept = KeptReference(argv, {inputs.string(), outputs.string()}, ReadBytes(inputs),
                                      {program, InSources(".deps/.stamps"), format.path()});
  if (fs::exists(kept)) return ReadBytes(kept);
  const CommandResult run = RunCommand(argv, {"TF_CPP_MIN_LOG_LEVEL=3"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  if (run.exit_code == 0) Keep(outputs, kept);
  return ReadBytes(outputs);
}

}  // namespace wasinn::testing
