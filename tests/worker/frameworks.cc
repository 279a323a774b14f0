#include "worker/frameworks.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

// Files of tests/models, and of models.
std::string Tests(const std::string& file) { return testing::InSources("tests/models/") + file; }
std::string Models(const std::string& file) { return testing::InSources("models/") + file; }

// So many images that all threads have something to do.
Model Digits(const std::vector<std::string>& parts, const std::string& format) {
  return {.parts = parts, .format = format, .shapes = {{"image", {512, 1, 8, 8}}}};
}

}  // namespace

std::vector<Framework> Frameworks() {
  const Model echo = {.parts = {testing::InSources("tests/worker/echo.txt")}, .format = "ggml"};
  std::vector<Framework> all = {
      {.name = "echo", .backend = testing::BackendFile("echo"), .warm_up = echo, .model = echo}};
  if (testing::Has("onnx")) {
    all.push_back({.name = "onnx",
                   .backend = testing::BackendFile("onnx"),
                   .warm_up = {.parts = {Tests("tiny/relu.onnx")}, .format = "onnx"},
                   .model = Digits({Models("digits.onnx")}, "onnx"),
                   .threads_open = {1, 2},
                   .threads = {1, 2}});
  }
  if (testing::Has("openvino")) {
    const Model ir = {.parts = {Tests("openvino/relu.xml")}, .format = "openvino"};
    all.push_back({.name = "openvino",
                   .backend = testing::BackendFile("openvino"),
                   .warm_up = ir,
                   .model = Digits({Models("digits.xml"), Models("digits.bin")}, "openvino"),
                   .threads = {4, 4}});
    all.push_back({.name = "openvino",
                   .backend = testing::BackendFile("openvino"),
                   .warm_up = ir,
                   .model = Digits({Models("digits.onnx")}, "onnx"),
                   .threads = {4, 4}});
  }
  if (testing::Has("tflite")) {
    all.push_back({.name = "tflite",
                   .backend = testing::BackendFile("tflite"),
                   .warm_up = {.parts = {Tests("tflite/relu.tflite")}, .format = "tensorflowlite"},
                   .model = Digits({Models("digits.tflite")}, "tensorflowlite")});
  }
  if (testing::Has("torch")) {
    all.push_back({.name = "torch",
                   .backend = testing::BackendFile("torch"),
                   .warm_up = {.parts = {Tests("torch/relu.pt")}, .format = "pytorch"},
                   .model = Digits({Models("digits.pt")}, "pytorch"),
                   .threads_open = {1, 3},
                   .threads = {1, 3}});
  }
  if (testing::Has("tensorflow")) {
    all.push_back({.name = "tensorflow",
                   .backend = testing::BackendFile("tensorflow"),
                   .warm_up = {.parts = {Tests("tensorflow/relu.pb")}, .format = "tensorflow"},
                   .model = Digits({Models("digits.pb")}, "tensorflow"),
                   .threads_open = {4, 5},
                   .threads = {4, 5},
                   .forks = false});
  }
  if (testing::Has("llama")) {
    const auto tiny = [](const std::string& file) {
      return Model{.parts = {Models(file)},
                   .format = "ggml",
                   .texts = {{"the hen ate", R"({"temp": 0, "n-predict": 3})"},
                             {"the oats an", R"({"temp": 0, "n-predict": 4})"},
                             {"and then, a", R"({"temp": 0, "n-predict": 5})"},
                             {"the hen ate", R"({"temp": 0, "n-predict": 9, "grammar": "root ::= [a-z ]+"})"}}};
    };
    all.push_back({.name = "llama",
                   .backend = testing::BackendFile("llama"),
                   .warm_up = tiny("tiny.gguf"),
                   .model = tiny("tiny_q8_0.gguf")});
  }
  return all;
}

}  // namespace wasinn::test
