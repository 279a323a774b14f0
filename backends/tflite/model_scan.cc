#include "tflite/model_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "common/error.h"
#include "common/saturating.h"
#include "tflite/flat_reader.h"
#include "tflite/operator_order.h"
#include "tflite/schema.h"

namespace wasinn::tflite {

using backend::Error;

namespace {

constexpr uint32_t kMostTensors = 1 << 20;
constexpr uint32_t kMostPorts = 1 << 16;
constexpr uint32_t kLongestName = 1 << 12;
// Tables and vectors may be shared, so that a small file has a great many of them to look at.
constexpr uint64_t kStepsPerByte = 16, kMoreSteps = 1 << 20;
constexpr int kMostDepth = 32;
constexpr uint64_t kMostCalls = 10000;

class Scanner {
 public:
  Scanner(std::span<const uint8_t> bytes, const ScanPolicy& policy)
      : bytes_(bytes),
        policy_(policy),
        model_(FlatTable::Root(bytes)),
        graphs_(model_.Vector(ModelField::kSubgraphs, 4)),
        buffers_(model_.Vector(ModelField::kBuffers, 4)),
        steps_left_(kStepsPerByte * bytes.size() + kMoreSteps) {}

  ModelScan Run() {
    if (graphs_.size() == 0) ThrowInvalid("it has no graph");
    ReadCodes();
    if (policy_.trust == Trust::kGuest) CheckBuffers();
    CountConstants();
    calls_.resize(graphs_.size());
    for (uint32_t i = 0; i < graphs_.size(); ++i) ReadGraph(i);
    followed_.resize(graphs_.size());
    for (uint32_t i = 0; i < graphs_.size(); ++i) Follow(i, 0);
    return std::move(scan_);
  }

 private:
  void ReadCodes();
  void ReadNames(int signature_field, std::map<uint32_t, std::string_view>* names);
  // Counts what is about to be looked at.
  void Count(uint64_t steps) {
    if (steps > steps_left_) ThrowInvalid("its tables share so much that they would take too long to read");
    steps_left_ -= steps;
  }
  void CheckCode(int32_t code, std::string_view custom) const;
  void CheckDeconvolution(uint32_t graph, const FlatTable& op) const;
  void CheckBuffers();
  void CountConstants();
  void ReadGraph(uint32_t index);
  void CheckTensor(const FlatTable& tensor);
  void CheckOperator(uint32_t graph, const FlatTable& op, uint32_t tensors);
  void AddWindow(uint32_t graph, int32_t code, const FlatTable& op);
  void AddCall(uint32_t from, int64_t to);
  bool HasNoOperators(uint32_t graph) const {
    return graphs_.Table(graph).Vector(GraphField::kOperators, 4).size() == 0;
  }
  uint64_t Follow(uint32_t graph, int depth);
  void ReadPorts(const FlatTable& graph, int field, int signature_field, std::vector<ScannedPort>* ports);
  static void SetShape(const FlatTable& tensor, ScannedPort* port);

  const std::span<const uint8_t> bytes_;
  const ScanPolicy policy_;
  const FlatTable model_;
  const FlatVector graphs_, buffers_;
  uint64_t steps_left_;
  std::vector<int32_t> codes_;
  std::vector<bool> deconvolutions_;          // of each of them: whether it is kDeconvolution
  std::vector<std::vector<uint32_t>> calls_;  // of each graph: the graphs that its operators run
  std::vector<uint64_t> followed_;            // of each graph: graphs in all that it leads to; 0: not known yet
  ModelScan scan_;
};

void Scanner::ReadCodes() {
  const FlatVector codes = model_.Vector(ModelField::kOperatorCodes, 4);
  Count(codes.size());
  for (uint32_t i = 0; i < codes.size(); ++i) {
    const FlatTable entry = codes.Table(i);
    const int32_t code = std::max<int32_t>(entry.Get<int8_t>(CodeField::kOldCode, 0), entry.Get(CodeField::kCode, 0));
    codes_.push_back(code);
    deconvolutions_.push_back(code == kCustom && entry.Text(CodeField::kCustom) == kDeconvolution);
    const bool custom = code == kCustom && !deconvolutions_.back();
    scan_.has_custom_ops = scan_.has_custom_ops || custom;
    scan_.has_deconvolution = scan_.has_deconvolution || deconvolutions_.back();
    if (policy_.trust == Trust::kGuest) CheckCode(code, entry.Text(CodeField::kCustom));
    // Random numbers go on where the last run left them.
    const bool state = code == kCallOnce || custom || (code >= kHashtable && code <= kHashtableSize) ||
                       (code >= kVarHandle && code <= kAssignVariable) || code == kRandomNormal ||
                       code == kRandomUniform || code == kMultinomial;
    scan_.keeps_state = scan_.keeps_state || state;
  }
}

void Scanner::CheckCode(int32_t code, std::string_view custom) const {
  if (code == kCustom) {
    // For these TensorFlow Lite looks for TensorFlow's own library by its plain name, and loads it.
    if (custom.starts_with("Flex")) {
      throw Error(WASINN_SECURITY, fmt::format("operator '{}': operators of TensorFlow are not allowed in a model that "
                                               "comes as bytes",
                                               custom));
    }
    if (policy_.guest_custom_ops) return;
    if (custom == kDeconvolution) {
      if (policy_.no_deconvolution == nullptr) return;
      throw Error(WASINN_UNSUPPORTED_OPERATION,
                  fmt::format("custom operator '{}': {}", custom, policy_.no_deconvolution));
    }
    throw Error(WASINN_SECURITY, fmt::format("custom operator '{}': not allowed in a model that comes as bytes, unless "
                                             "guest_custom_ops is set",
                                             custom));
  }
  if (code == kDelegate || code == kPlaceholder || code == kCall || code < 0 || code >= kFirstStablehlo) {
    throw Error(WASINN_SECURITY, fmt::format("operator {}: not allowed in a model that comes as bytes", code));
  }
}

// Data that lies behind the FlatBuffer, for models of more than 2 GiB.
void Scanner::CheckBuffers() {
  Count(buffers_.size());
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    const FlatTable buffer = buffers_.Table(i);
    const auto offset = buffer.Get<uint64_t>(BufferField::kOffset, 0);
    const auto size = buffer.Get<uint64_t>(BufferField::kSize, 0);
    if (offset == 0 && size == 0) continue;
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      ThrowInvalid(fmt::format("buffer {} lies outside of the model's {} bytes", i, bytes_.size()));
    }
  }
}

void Scanner::CountConstants() {
  Count(buffers_.size());
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    const FlatTable buffer = buffers_.Table(i);
    const uint64_t bytes =
        std::max<uint64_t>(buffer.Vector(BufferField::kData, 1).size(), buffer.Get<uint64_t>(BufferField::kSize, 0));
    scan_.constants = backend::AddSat(scan_.constants, bytes);
  }
}

void Scanner::ReadGraph(uint32_t index) {
  const FlatTable graph = graphs_.Table(index);
  const FlatVector tensors = graph.Vector(GraphField::kTensors, 4);
  if (tensors.size() > kMostTensors) ThrowInvalid(fmt::format("{} tensors", tensors.size()));
  Count(uint64_t{1} + tensors.size());
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const FlatTable tensor = tensors.Table(i);
    CheckTensor(tensor);
    if (!IsConstant(tensor, buffers_)) {
      scan_.bytes = backend::AddSat(scan_.bytes, BytesOf(tensor.Vector(TensorField::kShape, 4)));
    }
    scan_.has_variables = scan_.has_variables || tensor.Get<uint8_t>(TensorField::kVariable, 0) != 0;
  }
  const FlatVector operators = graph.Vector(GraphField::kOperators, 4);
  Count(operators.size());
  for (uint32_t i = 0; i < operators.size(); ++i) CheckOperator(index, operators.Table(i), tensors.size());
  CheckOrder(graph, buffers_, policy_.trust);
  if (index != 0) return;
  scan_.tensors = tensors.size();
  scan_.operators = operators.size();
  scan_.lives = LivesOf(graph, buffers_);
  ReadPorts(graph, GraphField::kInputs, SignatureField::kInputs, &scan_.inputs);
  ReadPorts(graph, GraphField::kOutputs, SignatureField::kOutputs, &scan_.outputs);
  std::set<int32_t> seen;
  for (const ScannedPort& input : scan_.inputs) {
    if (!seen.insert(input.tensor).second) ThrowInvalid(fmt::format("tensor {} is an input twice", input.tensor));
  }
}

void Scanner::CheckTensor(const FlatTable& tensor) {
  if (tensor.Get<uint32_t>(TensorField::kBuffer, 0) >= std::max<uint32_t>(buffers_.size(), 1)) {
    ThrowInvalid(fmt::format("tensor '{}' lies in a buffer that there is not", tensor.Text(TensorField::kName)));
  }
  const FlatVector shape = tensor.Vector(TensorField::kShape, 4);
  Count(shape.size());
  for (uint32_t i = 0; i < shape.size(); ++i) {
    if (shape.Get<int32_t>(i) < -1) {
      ThrowInvalid(
          fmt::format("tensor '{}' has a dimension of {}", tensor.Text(TensorField::kName), shape.Get<int32_t>(i)));
    }
  }
  const FlatVector signature = tensor.Vector(TensorField::kSignature, 4);
  for (uint32_t i = 0; i < std::min(signature.size(), shape.size()); ++i) {
    const auto known = signature.Get<int32_t>(i);
    if (known >= 0 && known != shape.Get<int32_t>(i)) {
      ThrowInvalid(fmt::format("tensor '{}' has the dimension {} and {}", tensor.Text(TensorField::kName), known,
                               shape.Get<int32_t>(i)));
    }
  }
}

void Scanner::CheckOperator(uint32_t graph, const FlatTable& op, uint32_t tensors) {
  const auto code_index = op.Get<uint32_t>(OperatorField::kCode, 0);
  if (code_index >= codes_.size()) ThrowInvalid(fmt::format("an operator of the unknown kind {}", code_index));
  for (const int field : {int{OperatorField::kInputs}, int{OperatorField::kOutputs}}) {
    const FlatVector indices = op.Vector(field, 4);
    Count(indices.size());
    for (uint32_t i = 0; i < indices.size(); ++i) {
      const auto tensor = indices.Get<int32_t>(i);
      if (tensor < -1 || (tensor >= 0 && static_cast<uint32_t>(tensor) >= tensors)) {
        ThrowInvalid(fmt::format("an operator of tensor {}: there are {}", tensor, tensors));
      }
    }
  }
  if (policy_.trust == Trust::kGuest && (op.Get<uint64_t>(OperatorField::kLargeOptions, 0) != 0)) {
    throw Error(WASINN_SECURITY, "options of an operator outside of it: not allowed in a model that comes as bytes");
  }
  if (deconvolutions_[code_index]) CheckDeconvolution(graph, op);
  const auto options = op.Table(OperatorField::kOptions);
  const auto graph_of = [&](int field) { return options ? int64_t{options->Get<int32_t>(field, 0)} : 0; };
  switch (codes_[code_index]) {
    case kWhile:
      AddCall(graph, graph_of(0));
      AddCall(graph, graph_of(1));
      // It is asked whether to go on before each operator, so never in a loop that has none.
      if (HasNoOperators(calls_[graph].back()) && HasNoOperators(calls_[graph][calls_[graph].size() - 2])) {
        ThrowInvalid("a loop without operators");
      }
      break;
    case kAveragePool:
    case kConv:
    case kDepthwiseConv:
    case kL2Pool:
    case kMaxPool:
    case kTransposeConv:
    case kConv3d:
    case kConv3dTranspose:
      AddWindow(graph, codes_[code_index], op);
      break;
    case kIf:
      AddCall(graph, graph_of(0));
      AddCall(graph, graph_of(1));
      break;
    case kCall:
    case kCallOnce:
      AddCall(graph, graph_of(0));
      break;
    default:
      break;
  }
}

// XNNPACK copies the options to a structure on its stack, as many bytes as there are.
void Scanner::CheckDeconvolution(uint32_t graph, const FlatTable& op) const {
  if (policy_.trust == Trust::kHost) return;
  constexpr uint32_t kLeast = 12, kMost = 20;  // padding, two strides, and since 2.10 two more numbers
  const uint32_t options = op.Vector(OperatorField::kCustomOptions, 1).size();
  if (options < kLeast || options > kMost) {
    ThrowInvalid(fmt::format("{} has {} bytes of options: expected {} to {}", kDeconvolution, options, kLeast, kMost));
  }
  if (graph != 0) {
    throw Error(WASINN_SECURITY, fmt::format("custom operator '{}' in a loop or branch: not allowed in a model that "
                                             "comes as bytes",
                                             kDeconvolution));
  }
  const FlatVector inputs = op.Vector(OperatorField::kInputs, 4), outputs = op.Vector(OperatorField::kOutputs, 4);
  bool all_there = inputs.size() == 3 && outputs.size() == 1 && outputs.Get<int32_t>(0) >= 0;
  for (uint32_t i = 0; all_there && i < inputs.size(); ++i) all_there = inputs.Get<int32_t>(i) >= 0;
  if (!all_there) {
    ThrowInvalid(fmt::format("{} of {} inputs and {} outputs: expected a value, a filter and a bias, and one output",
                             kDeconvolution, inputs.size(), outputs.size()));
  }
}

void Scanner::AddWindow(uint32_t graph, int32_t code, const FlatTable& op) {
  if (graph != 0) {
    // Shapes within loops and branches cannot be seen before they run.
    if (policy_.trust == Trust::kHost) return;
    throw Error(WASINN_SECURITY,
                fmt::format("operator {} in a loop or branch: not allowed in a model that comes as bytes", code));
  }
  WindowOperator& window = scan_.windows.emplace_back();
  window.code = code;
  window.is_convolution = code == kConv;
  const FlatVector inputs = op.Vector(OperatorField::kInputs, 4), outputs = op.Vector(OperatorField::kOutputs, 4);
  for (uint32_t i = 0; i < inputs.size(); ++i) window.inputs.push_back(inputs.Get<int32_t>(i));
  for (uint32_t i = 0; i < outputs.size(); ++i) window.outputs.push_back(outputs.Get<int32_t>(i));
}

void Scanner::AddCall(uint32_t from, int64_t to) {
  if (to < 0 || to >= graphs_.size()) ThrowInvalid(fmt::format("graph {}: there are {}", to, graphs_.size()));
  calls_[from].push_back(static_cast<uint32_t>(to));
}

// TensorFlow Lite follows calls by recursion, each one anew: it would not come back from a circle, and hardly from a
// chain in which each graph calls the next one twice. Returns how many graphs that makes.
uint64_t Scanner::Follow(uint32_t graph, int depth) {
  if (depth > kMostDepth) ThrowInvalid(fmt::format("graphs that call each other more than {} deep", kMostDepth));
  uint64_t& count = followed_[graph];
  if (count != 0) return count;
  uint64_t sum = 1;
  for (const uint32_t called : calls_[graph]) sum += Follow(called, depth + 1);
  if (sum > kMostCalls) ThrowInvalid(fmt::format("more than {} calls of graphs", kMostCalls));
  return count = sum;
}

void Scanner::ReadPorts(const FlatTable& graph, int field, int signature_field, std::vector<ScannedPort>* ports) {
  const FlatVector indices = graph.Vector(field, 4);
  const FlatVector tensors = graph.Vector(GraphField::kTensors, 4);
  if (indices.size() > kMostPorts) ThrowInvalid(fmt::format("{} inputs or outputs", indices.size()));
  std::map<uint32_t, std::string_view> names;
  ReadNames(signature_field, &names);
  for (uint32_t i = 0; i < indices.size(); ++i) {
    const auto index = indices.Get<int32_t>(i);
    if (index < 0 || static_cast<uint32_t>(index) >= tensors.size()) {
      ThrowInvalid(fmt::format("tensor {} is an input or output: there are {}", index, tensors.size()));
    }
    const FlatTable tensor = tensors.Table(static_cast<uint32_t>(index));
    const auto given = names.find(static_cast<uint32_t>(index));
    const std::string_view own = tensor.Text(TensorField::kName);
    ScannedPort& port = ports->emplace_back();
    port.tensor = index;
    port.name = given != names.end() && !given->second.empty() ? given->second : own;
    if (port.name.size() > kLongestName) ThrowInvalid("the name of an input or output is too long");
    Count(port.name.size() + tensor.Vector(TensorField::kSignature, 4).size() +
          tensor.Vector(TensorField::kShape, 4).size());
    SetShape(tensor, &port);
  }
}

void Scanner::SetShape(const FlatTable& tensor, ScannedPort* port) {
  const FlatVector signature = tensor.Vector(TensorField::kSignature, 4);
  const FlatVector shape = tensor.Vector(TensorField::kShape, 4);
  const FlatVector& known = signature.size() > 0 ? signature : shape;
  for (uint32_t d = 0; d < known.size(); ++d) port->shape.push_back(known.Get<int32_t>(d));
  port->bytes = BytesOf(shape);
  port->has_shape = known.size() > 0 || tensor.Get<uint8_t>(TensorField::kRank, 0) != 0;
}

// What the converter was told, where the model has a signature; tensors' names carry decorations. The first one counts.
void Scanner::ReadNames(int signature_field, std::map<uint32_t, std::string_view>* names) {
  const FlatVector signatures = model_.Vector(ModelField::kSignatures, 4);
  Count(signatures.size());
  for (uint32_t i = 0; i < signatures.size(); ++i) {
    const FlatTable signature = signatures.Table(i);
    if (signature.Get<uint32_t>(SignatureField::kGraph, 0) != 0) continue;
    const FlatVector maps = signature.Vector(signature_field, 4);
    Count(maps.size());
    for (uint32_t m = 0; m < maps.size(); ++m) {
      const FlatTable map = maps.Table(m);
      names->emplace(map.Get<uint32_t>(MapField::kTensor, 0), map.Text(MapField::kName));
    }
  }
}

}  // namespace

ModelScan ScanModel(std::span<const uint8_t> bytes, const ScanPolicy& policy) { return Scanner(bytes, policy).Run(); }

}  // namespace wasinn::tflite
