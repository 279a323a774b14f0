#include "hostile/killers.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "backends/onnx_writer.h"
#include "backends/tensorflow_writer.h"
#include "hostile/made_models.h"
#include "hostile/openvino_killers.h"
#include "hostile/tflite_killers.h"
#include "hostile/torch_archive.h"

namespace wasinn::testing {
namespace {

// Time for what ends by itself, and little for what does not.
constexpr uint32_t kAmple = 60'000, kShort = 300;

// What differs between the killers of one backend.
struct Case {
  const char* name;
  std::vector<std::string> parts;
  uint32_t deadline_ms;
  const char *function, *error;
  std::vector<std::string> log;
};

struct Framework {
  const char* backend;
  uint32_t encoding;
  std::vector<std::string> honest;
  std::vector<Case> (*cases)();
};

std::string Committed(const std::string& path) {
  std::ifstream file(std::string(HOSTILE_ROOT "/tests/models/") + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Its worker ends under it.
Case Dies(const char* name, std::vector<std::string> parts, const char* function, const char* signal) {
  return {name,     std::move(parts), kAmple,
          function, "runtime_error",  {std::string(function) + ": lost: ", "the model's worker is gone", signal}};
}

// A compute that the deadline ends.
Case NeverEnds(const char* name, std::vector<std::string> parts) {
  return {name,      std::move(parts), kShort,
          "compute", "runtime_error",  {"compute: timeout: ", "the compute was stopped after 300 ms"}};
}

Case Fills(const char* name, std::string model, const char* error, std::vector<std::string> log) {
  return {name, {std::move(model)}, kAmple, "compute", error, std::move(log)};
}

// ---- ONNX Runtime

// x, multiplied as a matrix of many elements: ONNX Runtime does not look within an operator whether it shall end.
std::string MultipliesForLong() {
  using namespace test;
  constexpr int64_t kSide = 4000;
  return ModelOf({.nodes = {Node("Expand", {"x", "shape"}, {"m"}), Node("MatMul", {"m", "m"}, {"p"}),
                            Node("MatMul", {"p", "m"}, {"q"}), Node("ReduceMax", {"q"}, {"y"})},
                  .constants = {Constant<int64_t>("shape", kInt64, {2}, {kSide, kSide})},
                  .inputs = {Value("x", kFloat, {1})},
                  .outputs = {Value("y", TensorTypeOfAnyRank(kFloat))}});
}

std::vector<Case> OnnxCases() {
  return {
      // The processor's instruction raises SIGFPE for the least integer divided by -1. ONNX Runtime 1.31 computes it, of
      // constants when it loads the model.
      Dies("divides", {Divides("Div", /*by_zero=*/false)}, "load", "signal 8"),
      NeverEnds("loops", {Committed("tiny/endless.onnx")}),
      NeverEnds("multiplies", {MultipliesForLong()}),
      Fills("doubles", Doubles(40, /*constant=*/false), "too_large", {"compute: too_large: onnx: "}),
  };
}

// ---- PyTorch

// An object whose method calls the same method of what the object holds, which is itself. PyTorch refuses a method that
// calls itself, but here the call could be of another class.
std::string CallsItself() {
  const std::string classes =
      "class Next(Interface):\n  def go(self: __torch__.Next,\n    x: Tensor) -> Tensor:\n    pass\n"
      "class Link:\n  next : __torch__.Next\n  def go(self: __torch__.Link,\n    x: Tensor) -> Tensor:\n"
      "    _0 = (self.next).go(x, )\n    return torch.add(_0, 1)\n";
  return TorchArchive(classes + TorchCode({"link = __torch__.Link.__new__(__torch__.Link)", "link.next = link",
                                           "return (link).go(x, )"}),
                      TorchObject());
}

std::vector<Case> TorchCases() {
  constexpr size_t kParentheses = 3'000'000;  // its parser calls itself for each
  const char* const forever = "for i in range(9223372036854775807):";
  return {
      Dies("nests", {TorchForward({"return " + std::string(kParentheses, '(') + "x" + std::string(kParentheses, ')')})},
           "load", "signal 11"),
      // Given the time it takes all memory that it can have, and ends as doubles does.
      NeverEnds("recurses", {CallsItself()}),
      Fills("doubles",
            TorchForward({"numbers = [1]", forever, "  numbers = torch.add(numbers, numbers)",
                          "return torch.mul(x, torch.len(numbers))"}),
            "runtime_error", {"compute: runtime_error: torch: ", "std::bad_alloc"}),
      NeverEnds("loops", {TorchForward({"n = 0", forever, "  n = torch.add(n, i)", "return torch.add(x, n)"})}),
  };
}

// ---- TensorFlow

constexpr uint64_t kTfI32 = 3, kTfI64 = 9;

// A constant: a vector of numbers, or one.
template <typename T>
std::string TfNumbers(const std::string& name, uint64_t type, const std::vector<T>& values, bool is_one = false) {
  using namespace test;
  const std::string raw(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  const std::string shape = is_one ? "" : BytesField(2, NumberField(1, values.size()));
  const std::string tensor = NumberField(1, type) + BytesField(2, shape) + BytesField(4, raw);
  return TfNode(name, "Const", {}, TypeAttribute("dtype", type) + Attribute("value", BytesField(8, tensor)));
}

// Operations on a list of so many tensors of rank 2, called "list".
std::string OnTfList(int32_t elements, const std::vector<std::string>& nodes) {
  using namespace test;
  const std::string types = TypeAttribute("element_dtype", 1) + TypeAttribute("shape_type", kTfI32);
  std::vector<std::string> all = {TfNumbers<int32_t>("shape", kTfI32, {-1, 3}),
                                  TfNumbers<int32_t>("elements", kTfI32, {elements}, true),
                                  TfNode("list", "TensorListReserve", {"shape", "elements"}, types)};
  all.insert(all.end(), nodes.begin(), nodes.end());
  return TfGraphOf(all);
}

// A length of -1 is CHECKed not to be: https://github.com/tensorflow/tensorflow/issues/78830.
std::string ChecksALength() {
  using namespace test;
  const std::string types = TypeAttribute("element_dtype", 1) + TypeAttribute("shape_type", kTfI32);
  return OnTfList(3, {TfNumbers<int64_t>("lengths", kTfI64, {-1, 3, 5}),
                      TfNode("joined", "TensorListConcatV2", {"list", "shape", "lengths"}, types),
                      TfNode("y", "Identity", {"joined"}, TypeAttribute("T", 1))});
}

std::vector<Case> TensorFlowCases() {
  using namespace test;
  return {
      Dies("checks", {ChecksALength()}, "compute", "signal 6"),
      NeverEnds("loops", {Committed("tensorflow/endless.pb")}),
      // Some 50 GB.
      Fills("reserves",
            OnTfList(std::numeric_limits<int32_t>::max(), {TfNode("length", "TensorListLength", {"list"}),
                                                           TfNode("y", "Identity", {"length"}, TypeAttribute("T", 3))}),
            "too_large", {"compute: too_large: tensorflow: out of memory"}),
  };
}

// ---- TensorFlow Lite

std::vector<Case> TfLiteCases() {
  // A good model but for one bit of its structure.
  std::string flipped = Committed("../../models/digits.tflite");
  flipped[83736] ^= 8;
  return {Dies("believes", {std::move(flipped)}, "load", "signal 11"), NeverEnds("loops", {EndlessTfLite()})};
}

// ---- OpenVINO

std::vector<Case> OpenVinoCases() {
  return {
      Dies("divides", DividesOnOpenVino(), "load", "signal 8"),
      NeverEnds("loops", EndlessLoopOnOpenVino(Committed("openvino/loop.xml"), Committed("openvino/loop.bin"))),
  };
}

const Framework kFrameworks[] = {
    {.backend = "onnx", .encoding = 1, .honest = {"digits.onnx"}, .cases = OnnxCases},
    {.backend = "torch", .encoding = 3, .honest = {"digits.pt"}, .cases = TorchCases},
    {.backend = "tensorflow", .encoding = 2, .honest = {"digits.pb"}, .cases = TensorFlowCases},
    {.backend = "tflite", .encoding = 4, .honest = {"digits.tflite"}, .cases = TfLiteCases},
    {.backend = "openvino", .encoding = 0, .honest = {"digits.xml", "digits.bin"}, .cases = OpenVinoCases},
};

}  // namespace

std::vector<Killer> Killers(const std::string& backends) {
  std::vector<Killer> killers;
  for (const Framework& framework : kFrameworks) {
    if (backends.find(" " + std::string(framework.backend) + " ") == backends.npos) continue;
    for (Case& one : framework.cases()) {
      killers.push_back({.name = std::string(framework.backend) + "_" + one.name,
                         .backend = framework.backend,
                         .encoding = framework.encoding,
                         .honest = framework.honest,
                         .parts = std::move(one.parts),
                         .deadline_ms = one.deadline_ms,
                         .function = one.function,
                         .error = one.error,
                         .log = std::move(one.log)});
    }
  }
  return killers;
}

}  // namespace wasinn::testing
