#include "hostile/killers.h"

#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "backends/onnx_writer.h"
#include "backends/tensorflow_writer.h"
#include "hostile/made_models.h"
#include "hostile/torch_archive.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

using test::Attribute;
using test::BytesField;
using test::Constant;
using test::kFloat;
using test::kInt64;
using test::ModelOf;
using test::Node;
using test::NumberField;
using test::TensorTypeOfAnyRank;
using test::TfGraphOf;
using test::TfNode;
using test::TypeAttribute;
using test::Value;

using Files = std::vector<std::string>;

// Time for what ends by itself; and little for what does not, but enough for an honest model on a busy machine.
constexpr uint32_t kAmple = 60'000, kShort = 1000;

// The differences between the killers of one backend.
struct Case {
  const char* name;
  Files (*parts)();
  uint32_t deadline_ms;
  const char *function, *error;
  std::string log;
};

struct Framework {
  const char* backend;
  uint32_t encoding;
  Files honest;
  std::vector<Case> (*cases)();
};

std::string Committed(const std::string& path) {
  std::ifstream file(InSources("tests/models/") + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Its worker ends under it.
Case Dies(const char* name, Files (*parts)(), const char* function, const char* signal) {
  return {name,     parts,           kAmple,
          function, "runtime_error", std::string(function) + ": lost: .*the model's worker is gone.*" + signal};
}

// A compute that the deadline ends.
Case NeverEnds(const char* name, Files (*parts)()) {
  return {name, parts, kShort, "compute", "runtime_error", "compute: timeout: .*the compute was stopped after 1000 ms"};
}

Case Fills(const char* name, Files (*parts)(), const char* error, const char* log) {
  return {name, parts, kAmple, "compute", error, log};
}

// ---- ONNX Runtime

// The processor's instruction raises SIGFPE for the least integer divided by -1. ONNX Runtime 1.31 computes it, of
// constants when it loads the model.
Files DividesOnOnnx() { return {Divides("Div", /*by_zero=*/false)}; }

Files LoopsOnOnnx() { return {Committed("tiny/endless.onnx")}; }

// x, multiplied as a matrix of many elements, for minutes: within an operator ONNX Runtime does not look whether it
// must end.
Files MultipliesOnOnnx() {
  constexpr int64_t kSide = 4000;
  constexpr int kTimes = 100;
  test::Graph graph{.nodes = {Node("Expand", {"x", "shape"}, {"m"}), Node("Identity", {"m"}, {"p0"})},
                    .constants = {Constant<int64_t>("shape", kInt64, {2}, {kSide, kSide})},
                    .inputs = {Value("x", kFloat, {1})},
                    .outputs = {Value("y", TensorTypeOfAnyRank(kFloat))}};
  for (int i = 0; i < kTimes; ++i) {
    graph.nodes.push_back(Node("MatMul", {"p" + std::to_string(i), "m"}, {"p" + std::to_string(i + 1)}));
  }
  graph.nodes.push_back(Node("ReduceMax", {"p" + std::to_string(kTimes)}, {"y"}));
  return {ModelOf(graph)};
}

Files DoublesOnOnnx() { return {Doubles(40, /*constant=*/false)}; }

std::vector<Case> OnnxCases() {
  return {
      Dies("divides", DividesOnOnnx, "load", "signal 8"),
      NeverEnds("loops", LoopsOnOnnx),
      NeverEnds("multiplies", MultipliesOnOnnx),
      Fills("doubles", DoublesOnOnnx, "too_large", "compute: too_large: onnx: "),
  };
}

// ---- PyTorch

// An object whose method calls the same method of what the object holds, which is itself. PyTorch refuses a method that
// calls itself, but here the call could be of another class. Given the time it takes all memory that it can have.
Files RecursesOnTorch() {
  const std::string classes =
      "class Next(Interface):\n  def go(self: __torch__.Next,\n    x: Tensor) -> Tensor:\n    pass\n"
      "class Link:\n  next : __torch__.Next\n  def go(self: __torch__.Link,\n    x: Tensor) -> Tensor:\n"
      "    _0 = (self.next).go(x, )\n    return torch.add(_0, 1)\n";
  return {TorchArchive(classes + TorchCode({"link = __torch__.Link.__new__(__torch__.Link)", "link.next = link",
                                            "return (link).go(x, )"}),
                       TorchObject())};
}

Files DoublesOnTorch() {
  return {TorchForward({"numbers = [1]", "for i in range(9223372036854775807):",
                        "  numbers = torch.add(numbers, numbers)", "return torch.mul(x, torch.len(numbers))"})};
}

std::vector<Case> TorchCases() {
  return {
      NeverEnds("recurses", RecursesOnTorch),
      Fills("doubles", DoublesOnTorch, "runtime_error", "compute: runtime_error: torch: .*std::bad_alloc"),
  };
}

// ---- TensorFlow

constexpr uint64_t kTfI32 = 3, kTfI64 = 9;

// A constant: a vector of numbers, or one.
template <typename T>
std::string TfNumbers(const std::string& name, uint64_t type, const std::vector<T>& values, bool is_one = false) {
  const std::string raw(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  const std::string shape = is_one ? "" : BytesField(2, NumberField(1, values.size()));
  const std::string tensor = NumberField(1, type) + BytesField(2, shape) + BytesField(4, raw);
  return TfNode(name, "Const", {}, TypeAttribute("dtype", type) + Attribute("value", BytesField(8, tensor)));
}

// Operations on a list of so many tensors of rank 2, called "list".
Files OnTfList(int32_t elements, const std::vector<std::string>& nodes) {
  const std::string types = TypeAttribute("element_dtype", 1) + TypeAttribute("shape_type", kTfI32);
  std::vector<std::string> all = {TfNumbers<int32_t>("shape", kTfI32, {-1, 3}),
                                  TfNumbers<int32_t>("elements", kTfI32, {elements}, true),
                                  TfNode("list", "TensorListReserve", {"shape", "elements"}, types)};
  all.insert(all.end(), nodes.begin(), nodes.end());
  return {TfGraphOf(all)};
}

// A length of -1 is CHECKed not to be: https://github.com/tensorflow/tensorflow/issues/78830.
Files ChecksOnTensorFlow() {
  const std::string types = TypeAttribute("element_dtype", 1) + TypeAttribute("shape_type", kTfI32);
  return OnTfList(3, {TfNumbers<int64_t>("lengths", kTfI64, {-1, 3, 5}),
                      TfNode("joined", "TensorListConcatV2", {"list", "shape", "lengths"}, types),
                      TfNode("y", "Identity", {"joined"}, TypeAttribute("T", 1))});
}

// A list of some 50 GB.
Files ReservesOnTensorFlow() {
  return OnTfList(std::numeric_limits<int32_t>::max(),
                  {TfNode("length", "TensorListLength", {"list"}),
                   TfNode("y", "Identity", {"length"}, TypeAttribute("T", kTfI32))});
}

std::vector<Case> TensorFlowCases() {
  return {
      Dies("checks", ChecksOnTensorFlow, "compute", "signal 6"),
      Fills("reserves", ReservesOnTensorFlow, "too_large", "compute: too_large: tensorflow: out of memory"),
  };
}

// ---- OpenVINO

template <typename T>
std::string Bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

void Replace(std::string* text, const std::string& from, const std::string& to) {
  if (const size_t at = text->find(from); at != text->npos) text->replace(at, from.size(), to);
}

// Its number of rounds is an input; here it is a constant.
Files LoopsOnOpenVino() {
  std::string xml = Committed("openvino/loop.xml"), weights = Committed("openvino/loop.bin");
  Replace(&xml, R"(type="Parameter" version="opset1">)", R"(type="Const" version="opset1">)");
  Replace(&xml, R"(<data shape="" element_type="i64" />)",
          R"(<data shape="" element_type="i64" offset="8" size="8" />)");
  weights.resize(8);
  return {std::move(xml), weights + Bytes(std::numeric_limits<int64_t>::max())};
}

std::vector<Case> OpenVinoCases() { return {NeverEnds("loops", LoopsOnOpenVino)}; }

const Framework kFrameworks[] = {
    {.backend = "onnx", .encoding = 1, .honest = {"digits.onnx"}, .cases = OnnxCases},
    {.backend = "torch", .encoding = 3, .honest = {"digits.pt"}, .cases = TorchCases},
    {.backend = "tensorflow", .encoding = 2, .honest = {"digits.pb"}, .cases = TensorFlowCases},
    {.backend = "openvino", .encoding = 0, .honest = {"digits.xml", "digits.bin"}, .cases = OpenVinoCases},
};

}  // namespace

std::vector<Killer> Killers() {
  std::vector<Killer> killers;
  for (const Framework& framework : Built(kFrameworks, &Framework::backend)) {
    for (Case& one : framework.cases()) {
      killers.push_back({.name = std::string(framework.backend) + "_" + one.name,
                         .backend = framework.backend,
                         .encoding = framework.encoding,
                         .honest = framework.honest,
                         .parts = one.parts,
                         .deadline_ms = one.deadline_ms,
                         .function = one.function,
                         .error = one.error,
                         .log = std::move(one.log)});
    }
  }
  return killers;
}

}  // namespace wasinn::testing
