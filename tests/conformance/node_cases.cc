#include "node_cases.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

// Whether a node draws random numbers without a seed. ONNX Runtime then seeds by the time at which the process began.
bool IsRandomNode(std::span<const uint8_t> node) {
  static constexpr std::string_view kRandomOps[] = {"Bernoulli",     "Multinomial",      "RandomNormal",
                                                    "RandomUniform", "RandomNormalLike", "RandomUniformLike"};
  constexpr uint32_t kInput = 1, kOpType = 4, kAttribute = 5, kAttributeName = 1;
  std::string_view op;
  size_t inputs = 0;
  bool seeded = false;
  for (ProtoReader field(node); field.Next();) {
    if (!field.has_bytes()) continue;
    if (field.field() == kInput) ++inputs;
    if (field.field() == kOpType) op = field.text();
    if (field.field() != kAttribute) continue;
    for (ProtoReader attribute(field.bytes()); attribute.Next();) {
      if (attribute.field() == kAttributeName && attribute.has_bytes() && attribute.text() == "seed") seeded = true;
    }
  }
  // Dropout's third input switches it to training; without, it does nothing.
  const bool random = op == "Dropout" ? inputs > 2 : std::ranges::find(kRandomOps, op) != std::end(kRandomOps);
  return random && !seeded;
}

// The cases with random numbers are single nodes, so subgraphs and functions are not looked into.
bool IsRandomModel(std::span<const uint8_t> model) {
  constexpr uint32_t kGraph = 7, kNode = 1;
  for (ProtoReader field(model); field.Next();) {
    if (field.field() != kGraph || !field.has_bytes()) continue;
    for (ProtoReader node(field.bytes()); node.Next();) {
      if (node.field() == kNode && node.has_bytes() && IsRandomNode(node.bytes())) return true;
    }
  }
  return false;
}

std::optional<Reason> CannotTravel(const std::vector<NativeIo>& ios) {
  for (const NativeIo& io : ios) {
    if (!io.is_tensor) return Reason::kNoTensors;
    if (io.type == kOnnxString) return Reason::kStrings;
    const bool complex = io.type == kOnnxComplex64 || io.type == kOnnxComplex128;
    if (complex || io.type < kOnnxFloat || io.type > kOnnxLastFloat8) return Reason::kNoSuchType;
  }
  return std::nullopt;
}

// input_0.pb, input_1.pb … or output_*, up to the first that is not there.
std::optional<std::vector<OnnxTensor>> ReadTensors(const fs::path& folder, const std::string& prefix) {
  std::vector<OnnxTensor> tensors;
  for (size_t i = 0;; ++i) {
    const fs::path path = folder / (prefix + std::to_string(i) + ".pb");
    if (!fs::exists(path)) return tensors;
    if (!ReadTensorProto(ReadBytes(path), &tensors.emplace_back())) return std::nullopt;
  }
}

template <typename T>
T Load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

double HalfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

double ToDouble(int32_t type, const uint8_t* at) {
  switch (type) {
    case kOnnxFloat:
      return static_cast<double>(Load<float>(at));
    case kOnnxDouble:
      return Load<double>(at);
    case kOnnxFloat16:
      return HalfToDouble(Load<uint16_t>(at));
    default:  // bf16: the upper half of a float
      return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(Load<uint16_t>(at)) << 16));
  }
}

// By the tolerances of the ONNX project's own runner.
bool IsClose(const OnnxTensor& got, const OnnxTensor& wanted) {
  if (got == wanted) return true;
  static constexpr int32_t kFloats[] = {kOnnxFloat, kOnnxDouble, kOnnxFloat16, kOnnxBfloat16};
  if (got.type != wanted.type || got.dims != wanted.dims) return false;
  if (std::ranges::find(kFloats, got.type) == std::end(kFloats)) return false;
  const size_t size = ElementBits(got.type) / 8;
  for (size_t at = 0; at < got.bytes.size(); at += size) {
    const double a = ToDouble(got.type, &got.bytes[at]);
    const double b = ToDouble(wanted.type, &wanted.bytes[at]);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= 1e-7 + 1e-3 * std::abs(b))) return false;
  }
  return true;
}

}  // namespace

const char* ReasonText(Reason reason) {
  switch (reason) {
    case Reason::kCannotLoad:
      return "ONNX Runtime cannot load it";
    case Reason::kCannotRun:
      return "ONNX Runtime cannot run it";
    case Reason::kRandom:
      return "its result is random";
    case Reason::kStrings:
      return "strings";
    case Reason::kNoTensors:
      return "sequences, maps or optionals";
    case Reason::kNoSuchType:
      return "4-bit numbers";
    case Reason::kHarnessIsBroken:
      break;
  }
  return "the test cannot read the case";
}

std::string NodeCaseFolder() { return InSources(".deps/share/onnx-node-tests"); }

std::vector<std::string> NodeCaseNames() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(NodeCaseFolder(), error)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::expected<NodeCase, LeftOut> RunNodeCase(const std::string& name) {
  const fs::path folder = fs::path(NodeCaseFolder()) / name;
  const fs::path data = folder / "test_data_set_0";
  const auto model = NativeModel::Load(folder / "model.onnx");
  if (!model) return std::unexpected(LeftOut{Reason::kCannotLoad, model.error()});
  for (const auto* ios : {&model->inputs(), &model->outputs()}) {
    if (const auto reason = CannotTravel(*ios)) return std::unexpected(LeftOut{*reason, ""});
  }
  if (IsRandomModel(ReadBytes(folder / "model.onnx"))) return std::unexpected(LeftOut{Reason::kRandom, ""});
  const auto inputs = ReadTensors(data, "input_");
  const auto expected = ReadTensors(data, "output_");
  if (!inputs || !expected) return std::unexpected(LeftOut{Reason::kHarnessIsBroken, "a tensor cannot be read"});
  auto outputs = model->Run(*inputs);
  if (!outputs) return std::unexpected(LeftOut{Reason::kCannotRun, outputs.error()});
  const bool as_expected = std::ranges::equal(*outputs, *expected, IsClose);
  return NodeCase{name, *std::move(outputs), as_expected};
}

}  // namespace wasinn::testing
