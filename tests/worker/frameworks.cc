#include "worker/frameworks.h"

namespace wasinn::test {
namespace {

const std::string kRoot = WORKER_TEST_ROOT;
const std::vector<int64_t> kManyImages = {512, 1, 8, 8};  // so many that all threads have something to do

}  // namespace

std::vector<Framework> Frameworks() {
  std::vector<Framework> all;
  all.push_back({.name = "echo",
                 .backend = WORKER_TEST_echo,
                 .parts = {kRoot + "/tests/worker/echo.txt"},
                 .format = "ggml",
                 .refuses_halves = false});
#ifdef WORKER_TEST_onnx
  all.push_back({.name = "onnx",
                 .backend = WORKER_TEST_onnx,
                 .parts = {kRoot + "/models/digits.onnx"},
                 .format = "onnx",
                 .shapes = {{"image", kManyImages}}});
#endif
#ifdef WORKER_TEST_openvino
  all.push_back({.name = "openvino",
                 .backend = WORKER_TEST_openvino,
                 .parts = {kRoot + "/models/digits.xml", kRoot + "/models/digits.bin"},
                 .format = "openvino",
                 .shapes = {{"image", kManyImages}}});
  all.push_back({.name = "openvino",
                 .backend = WORKER_TEST_openvino,
                 .parts = {kRoot + "/models/digits.onnx"},
                 .format = "onnx",
                 .shapes = {{"image", kManyImages}}});
#endif
#ifdef WORKER_TEST_tflite
  all.push_back({.name = "tflite",
                 .backend = WORKER_TEST_tflite,
                 .parts = {kRoot + "/models/digits.tflite"},
                 .format = "tensorflowlite",
                 .shapes = {{"image", kManyImages}}});
#endif
#ifdef WORKER_TEST_torch
  all.push_back({.name = "torch",
                 .backend = WORKER_TEST_torch,
                 .parts = {kRoot + "/models/digits.pt"},
                 .format = "pytorch",
                 .shapes = {{"image", kManyImages}}});
#endif
#ifdef WORKER_TEST_tensorflow
  all.push_back({.name = "tensorflow",
                 .backend = WORKER_TEST_tensorflow,
                 .parts = {kRoot + "/models/digits.pb"},
                 .format = "tensorflow",
                 .shapes = {{"image", kManyImages}}});
#endif
#ifdef WORKER_TEST_llama
  all.push_back({.name = "llama",
                 .backend = WORKER_TEST_llama,
                 .parts = {kRoot + "/models/tiny.gguf"},
                 .format = "ggml",
                 .shapes = {{"prompt", {40}}},
                 .model_config = R"({"n-predict": 16, "temp": 0})"});
#endif
  return all;
}

}  // namespace wasinn::test
