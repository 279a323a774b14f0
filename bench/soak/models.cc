#include "bench/soak/models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace wasinn::soak {
namespace {

constexpr size_t kChannels = 3, kPixels = 64;
// Numbers of graph-encoding.
enum : uint32_t { kOpenVino = 0, kOnnx = 1, kTensorFlow = 2, kPyTorch = 3, kTensorFlowLite = 4, kGgml = 5 };

std::vector<uint8_t> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <typename Floats>
std::vector<uint8_t> BytesOf(const Floats& floats) {
  std::vector<uint8_t> bytes(floats.size() * sizeof(float));
  std::memcpy(bytes.data(), floats.data(), bytes.size());
  return bytes;
}

Question AskForMeans(std::mt19937_64& random) {
  std::array<float, kChannels * kPixels> image{};
  std::array<float, kChannels> means{};
  for (size_t i = 0; i < image.size(); ++i) {
    image[i] = static_cast<float>(random() % 2001) / 1000 - 1;
    means[i / kPixels] += image[i] / kPixels;
  }
  return {.dims = {1, kChannels, 8, 8}, .input = BytesOf(image), .output = BytesOf(means), .tolerance = 1e-5};
}

}  // namespace

bool IsRight(const Question& question, const std::vector<uint8_t>& given) {
  if (given.size() != question.output.size()) return false;
  if (question.tolerance == 0) return given == question.output;
  for (size_t at = 0; at < given.size(); at += sizeof(float)) {
    float is = 0, shall_be = 0;
    std::memcpy(&is, &given[at], sizeof(float));
    std::memcpy(&shall_be, &question.output[at], sizeof(float));
    if (!(std::abs(is - shall_be) <= question.tolerance)) return false;
  }
  return true;
}

Model::Model(std::string backend, uint32_t encoding, std::vector<std::string> files)
    : backend_(std::move(backend)), encoding_(encoding), files_(std::move(files)) {
  for (const std::string& file : files_) parts_.push_back(ReadFile(file));
}

Model Model::Mean(const std::string& backend, uint32_t encoding, std::vector<std::string> files) {
  Model model(backend, encoding, std::move(files));
  model.slow_to_start_ = encoding == kTensorFlow;
  if (model.slow_to_start_) model.share_in_workers_ = 1;
  return model;
}

Model Model::Text(const std::string& backend, uint32_t encoding, std::vector<std::string> files) {
  Model model(backend, encoding, std::move(files));
  model.share_ = model.share_in_workers_ = 2;  // each takes a millisecond
  for (const std::string_view text : {"the hen ate", "the oats", "and then, a", "rain"}) {
    model.texts_.push_back({.dims = {static_cast<uint32_t>(text.size())},
                            .is_text = true,
                            .input = {text.begin(), text.end()},
                            .options = R"({"embedding":true})"});
  }
  return model;
}

Question Model::Ask(std::mt19937_64& random) const {
  return texts_.empty() ? AskForMeans(random) : texts_[random() % texts_.size()];
}

std::vector<Model> ModelsIn(const std::string& folder, const std::vector<std::string>& available) {
  const auto in = [&folder](std::vector<std::string> files) {
    for (std::string& file : files) file.insert(0, folder + "/");
    return files;
  };
  std::vector<Model> models;
  const auto add = [&](Model (*make)(const std::string&, uint32_t, std::vector<std::string>), const char* backend,
                       uint32_t encoding, std::vector<std::string> files) {
    if (std::ranges::find(available, backend) == available.end()) return;
    models.push_back(make(backend, encoding, in(std::move(files))));
  };
  add(&Model::Mean, "onnx", kOnnx, {"tests/models/tiny/mean.onnx"});
  add(&Model::Mean, "tflite", kTensorFlowLite, {"tests/models/tflite/mean.tflite"});
  add(&Model::Mean, "openvino", kOpenVino, {"tests/models/openvino/mean.xml", "tests/models/openvino/mean.bin"});
  add(&Model::Mean, "torch", kPyTorch, {"tests/models/torch/mean.pt"});
  add(&Model::Text, "llama", kGgml, {"models/tiny.gguf"});
  add(&Model::Mean, "tensorflow", kTensorFlow, {"tests/models/tensorflow/mean.pb"});
  return models;
}

}  // namespace wasinn::soak
