#include "tflite/model_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "common/error.h"
#include "common/saturating.h"
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
// As TensorFlow Lite's own verifier has it.
constexpr uint32_t kMostDepth = 64, kMostTables = 1'000'000;
// Of a larger file, FlatBuffers' part comes first, and weights behind it.
constexpr size_t kMostFlat = FLATBUFFERS_MAX_BUFFER_SIZE - 1;
constexpr int kMostCallDepth = 32;
constexpr uint64_t kMostCalls = 10000;

// TensorFlow Lite's own schema has more, which its own verifier has seen to. Whatever the bytes say, what is read
// afterwards lies within them.
const schema::Model& Verified(std::span<const uint8_t> bytes) {
  flatbuffers::Verifier verifier(bytes.data(), std::min(bytes.size(), kMostFlat), kMostDepth, kMostTables);
  if (!schema::VerifyModelBuffer(verifier)) ThrowInvalid("something in it lies outside of it");
  return *schema::GetModel(bytes.data());
}

class Scanner {
 public:
  Scanner(std::span<const uint8_t> bytes, const ScanPolicy& policy)
      : bytes_(bytes),
        policy_(policy),
        model_(Verified(bytes)),
        graphs_(model_.graphs()),
        buffers_(model_.buffers()),
        steps_left_(kStepsPerByte * bytes.size() + kMoreSteps) {}

  ModelScan Run() {
    if (SizeOf(graphs_) == 0) ThrowInvalid("it has no graph");
    ReadCodes();
    if (policy_.trust == Trust::kGuest) CheckBuffers();
    CountConstants();
    calls_.resize(graphs_->size());
    for (uint32_t i = 0; i < graphs_->size(); ++i) ReadGraph(i);
    followed_.resize(graphs_->size());
    for (uint32_t i = 0; i < graphs_->size(); ++i) Follow(i, 0);
    return std::move(scan_);
  }

 private:
  // The inputs or the outputs of a signature.
  using Maps = const Tables<schema::TensorMap>* (schema::Signature::*)() const;

  void ReadCodes();
  void ReadNames(Maps maps_of, std::map<uint32_t, std::string_view>* names);
  // Counts what is about to be looked at.
  void Count(uint64_t steps) {
    if (steps > steps_left_) ThrowInvalid("its tables share so much that they would take too long to read");
    steps_left_ -= steps;
  }
  void CheckCode(int32_t code, std::string_view custom) const;
  void CheckDeconvolution(uint32_t graph, const schema::Operator& op) const;
  void CheckBuffers();
  void CountConstants();
  void ReadGraph(uint32_t index);
  void CheckTensor(const schema::Tensor& tensor);
  void CheckOperator(uint32_t graph, const schema::Operator& op, uint32_t tensors);
  void AddWindow(uint32_t graph, int32_t code, const schema::Operator& op);
  void AddCalls(uint32_t graph, const schema::Operator& op, int count);
  void AddCall(uint32_t from, int64_t to);
  bool HasNoOperators(uint32_t graph) const { return SizeOf(graphs_->Get(graph)->operators()) == 0; }
  uint64_t Follow(uint32_t graph, int depth);
  void ReadPorts(const schema::SubGraph& graph, const Numbers* indices, Maps maps_of, std::vector<ScannedPort>* ports);
  static void SetShape(const schema::Tensor& tensor, ScannedPort* port);

  const std::span<const uint8_t> bytes_;
  const ScanPolicy policy_;
  const schema::Model& model_;
  const Tables<schema::SubGraph>* const graphs_;  // NULL: none, as all vectors
  const Tables<schema::Buffer>* const buffers_;
  uint64_t steps_left_;
  std::vector<int32_t> codes_;
  std::vector<bool> deconvolutions_;          // of each of them: whether it is kDeconvolution
  std::vector<std::vector<uint32_t>> calls_;  // of each graph: the graphs that its operators run
  std::vector<uint64_t> followed_;            // of each graph: graphs in all that it leads to; 0: not known yet
  ModelScan scan_;
};

void Scanner::ReadCodes() {
  Count(SizeOf(model_.codes()));
  for (uint32_t i = 0; i < SizeOf(model_.codes()); ++i) {
    const schema::OperatorCode& entry = *model_.codes()->Get(i);
    const int32_t code = std::max<int32_t>(entry.old_code(), entry.code());
    codes_.push_back(code);
    deconvolutions_.push_back(code == kCustom && TextOf(entry.custom()) == kDeconvolution);
    const bool custom = code == kCustom && !deconvolutions_.back();
    scan_.has_custom_ops = scan_.has_custom_ops || custom;
    scan_.has_deconvolution = scan_.has_deconvolution || deconvolutions_.back();
    if (policy_.trust == Trust::kGuest) CheckCode(code, TextOf(entry.custom()));
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
  Count(SizeOf(buffers_));
  for (uint32_t i = 0; i < SizeOf(buffers_); ++i) {
    const uint64_t offset = buffers_->Get(i)->offset(), size = buffers_->Get(i)->size();
    if (offset == 0 && size == 0) continue;
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      ThrowInvalid(fmt::format("buffer {} lies outside of the model's {} bytes", i, bytes_.size()));
    }
  }
}

void Scanner::CountConstants() {
  Count(SizeOf(buffers_));
  for (uint32_t i = 0; i < SizeOf(buffers_); ++i) {
    const schema::Buffer& buffer = *buffers_->Get(i);
    scan_.constants = backend::AddSat(scan_.constants, std::max<uint64_t>(SizeOf(buffer.data()), buffer.size()));
  }
}

void Scanner::ReadGraph(uint32_t index) {
  const schema::SubGraph& graph = *graphs_->Get(index);
  const uint32_t tensors = SizeOf(graph.tensors()), operators = SizeOf(graph.operators());
  if (tensors > kMostTensors) ThrowInvalid(fmt::format("{} tensors", tensors));
  Count(uint64_t{1} + tensors);
  for (uint32_t i = 0; i < tensors; ++i) {
    const schema::Tensor& tensor = *graph.tensors()->Get(i);
    CheckTensor(tensor);
    if (!IsConstant(tensor, buffers_)) {
      scan_.bytes = backend::AddSat(scan_.bytes, BytesOf(SpanOf(tensor.shape())));
    }
    scan_.has_variables = scan_.has_variables || tensor.is_variable();
  }
  Count(operators);
  for (uint32_t i = 0; i < operators; ++i) CheckOperator(index, *graph.operators()->Get(i), tensors);
  CheckOrder(graph, buffers_, policy_.trust);
  if (index != 0) return;
  scan_.tensors = tensors;
  scan_.operators = operators;
  scan_.lives = LivesOf(graph, buffers_);
  ReadPorts(graph, graph.inputs(), &schema::Signature::inputs, &scan_.inputs);
  ReadPorts(graph, graph.outputs(), &schema::Signature::outputs, &scan_.outputs);
  std::set<int32_t> seen;
  for (const ScannedPort& input : scan_.inputs) {
    if (!seen.insert(input.tensor).second) ThrowInvalid(fmt::format("tensor {} is an input twice", input.tensor));
  }
}

void Scanner::CheckTensor(const schema::Tensor& tensor) {
  if (tensor.buffer() >= std::max<uint32_t>(SizeOf(buffers_), 1)) {
    ThrowInvalid(fmt::format("tensor '{}' lies in a buffer that there is not", TextOf(tensor.name())));
  }
  const std::span<const int32_t> shape = SpanOf(tensor.shape()), signature = SpanOf(tensor.shape_signature());
  Count(shape.size());
  for (const int32_t dim : shape) {
    if (dim < -1) ThrowInvalid(fmt::format("tensor '{}' has a dimension of {}", TextOf(tensor.name()), dim));
  }
  for (size_t i = 0; i < std::min(signature.size(), shape.size()); ++i) {
    if (signature[i] >= 0 && signature[i] != shape[i]) {
      ThrowInvalid(
          fmt::format("tensor '{}' has the dimension {} and {}", TextOf(tensor.name()), signature[i], shape[i]));
    }
  }
}

void Scanner::CheckOperator(uint32_t graph, const schema::Operator& op, uint32_t tensors) {
  if (op.code() >= codes_.size()) ThrowInvalid(fmt::format("an operator of the unknown kind {}", op.code()));
  for (const Numbers* indices : {op.inputs(), op.outputs()}) {
    Count(SizeOf(indices));
    for (const int32_t tensor : SpanOf(indices)) {
      if (tensor < -1 || (tensor >= 0 && static_cast<uint32_t>(tensor) >= tensors)) {
        ThrowInvalid(fmt::format("an operator of tensor {}: there are {}", tensor, tensors));
      }
    }
  }
  if (policy_.trust == Trust::kGuest && op.large_options() != 0) {
    throw Error(WASINN_SECURITY, "options of an operator outside of it: not allowed in a model that comes as bytes");
  }
  if (deconvolutions_[op.code()]) CheckDeconvolution(graph, op);
  switch (codes_[op.code()]) {
    case kWhile:
      AddCalls(graph, op, 2);
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
      AddWindow(graph, codes_[op.code()], op);
      break;
    case kIf:
      AddCalls(graph, op, 2);
      break;
    case kCall:
    case kCallOnce:
      AddCalls(graph, op, 1);
      break;
    default:
      break;
  }
}

// XNNPACK copies the options to a structure on its stack, as many bytes as there are.
void Scanner::CheckDeconvolution(uint32_t graph, const schema::Operator& op) const {
  if (policy_.trust == Trust::kHost) return;
  constexpr uint32_t kLeast = 12, kMost = 20;  // padding, two strides, and since 2.10 two more numbers
  const uint32_t options = SizeOf(op.custom_options());
  if (options < kLeast || options > kMost) {
    ThrowInvalid(fmt::format("{} has {} bytes of options: expected {} to {}", kDeconvolution, options, kLeast, kMost));
  }
  if (graph != 0) {
    throw Error(WASINN_SECURITY, fmt::format("custom operator '{}' in a loop or branch: not allowed in a model that "
                                             "comes as bytes",
                                             kDeconvolution));
  }
  const std::span<const int32_t> inputs = SpanOf(op.inputs()), outputs = SpanOf(op.outputs());
  const bool all_there = inputs.size() == 3 && outputs.size() == 1 && outputs[0] >= 0 &&
                         std::ranges::all_of(inputs, [](int32_t tensor) { return tensor >= 0; });
  if (!all_there) {
    ThrowInvalid(fmt::format("{} of {} inputs and {} outputs: expected a value, a filter and a bias, and one output",
                             kDeconvolution, inputs.size(), outputs.size()));
  }
}

void Scanner::AddWindow(uint32_t graph, int32_t code, const schema::Operator& op) {
  if (graph != 0) {
    // Shapes within loops and branches cannot be seen before they run.
    if (policy_.trust == Trust::kHost) return;
    throw Error(WASINN_SECURITY,
                fmt::format("operator {} in a loop or branch: not allowed in a model that comes as bytes", code));
  }
  WindowOperator& window = scan_.windows.emplace_back();
  window.code = code;
  window.is_convolution = code == kConv;
  const std::span<const int32_t> inputs = SpanOf(op.inputs()), outputs = SpanOf(op.outputs());
  window.inputs.assign(inputs.begin(), inputs.end());
  window.outputs.assign(outputs.begin(), outputs.end());
}

void Scanner::AddCalls(uint32_t graph, const schema::Operator& op, int count) {
  // Here alone is known what the options of this operator are.
  const auto* calls = reinterpret_cast<const schema::Calls*>(op.options());
  if (calls != nullptr) {
    flatbuffers::Verifier verifier(bytes_.data(), std::min(bytes_.size(), kMostFlat));
    if (!calls->Verify(verifier)) ThrowInvalid("an operator's options lie outside of it");
  }
  AddCall(graph, calls == nullptr ? 0 : calls->first());
  if (count == 2) AddCall(graph, calls == nullptr ? 0 : calls->second());
}

void Scanner::AddCall(uint32_t from, int64_t to) {
  if (to < 0 || to >= graphs_->size()) ThrowInvalid(fmt::format("graph {}: there are {}", to, graphs_->size()));
  calls_[from].push_back(static_cast<uint32_t>(to));
}

// TensorFlow Lite follows calls by recursion, each one anew: it would not come back from a circle, and hardly from a
// chain in which each graph calls the next one twice. Returns how many graphs that makes.
uint64_t Scanner::Follow(uint32_t graph, int depth) {
  if (depth > kMostCallDepth) {
    ThrowInvalid(fmt::format("graphs that call each other more than {} deep", kMostCallDepth));
  }
  uint64_t& count = followed_[graph];
  if (count != 0) return count;
  uint64_t sum = 1;
  for (const uint32_t called : calls_[graph]) sum += Follow(called, depth + 1);
  if (sum > kMostCalls) ThrowInvalid(fmt::format("more than {} calls of graphs", kMostCalls));
  return count = sum;
}

void Scanner::ReadPorts(const schema::SubGraph& graph, const Numbers* indices, Maps maps_of,
                        std::vector<ScannedPort>* ports) {
  const uint32_t tensors = SizeOf(graph.tensors());
  if (SizeOf(indices) > kMostPorts) ThrowInvalid(fmt::format("{} inputs or outputs", SizeOf(indices)));
  std::map<uint32_t, std::string_view> names;
  ReadNames(maps_of, &names);
  for (const int32_t index : SpanOf(indices)) {
    if (index < 0 || static_cast<uint32_t>(index) >= tensors) {
      ThrowInvalid(fmt::format("tensor {} is an input or output: there are {}", index, tensors));
    }
    const schema::Tensor& tensor = *graph.tensors()->Get(static_cast<uint32_t>(index));
    const auto given = names.find(static_cast<uint32_t>(index));
    ScannedPort& port = ports->emplace_back();
    port.tensor = index;
    port.name = given != names.end() && !given->second.empty() ? given->second : TextOf(tensor.name());
    if (port.name.size() > kLongestName) ThrowInvalid("the name of an input or output is too long");
    Count(port.name.size() + SizeOf(tensor.shape_signature()) + SizeOf(tensor.shape()));
    SetShape(tensor, &port);
  }
}

void Scanner::SetShape(const schema::Tensor& tensor, ScannedPort* port) {
  const std::span<const int32_t> signature = SpanOf(tensor.shape_signature()), shape = SpanOf(tensor.shape());
  const std::span<const int32_t> known = signature.empty() ? shape : signature;
  port->shape.assign(known.begin(), known.end());
  port->bytes = BytesOf(shape);
  port->has_shape = !known.empty() || tensor.has_rank();
}

// What the converter was told, where the model has a signature; tensors' names carry decorations. The first one counts.
void Scanner::ReadNames(Maps maps_of, std::map<uint32_t, std::string_view>* names) {
  const Tables<schema::Signature>* const signatures = model_.signatures();
  Count(SizeOf(signatures));
  for (uint32_t i = 0; i < SizeOf(signatures); ++i) {
    const schema::Signature& signature = *signatures->Get(i);
    if (signature.graph() != 0) continue;
    const Tables<schema::TensorMap>* const maps = (signature.*maps_of)();
    Count(SizeOf(maps));
    for (uint32_t m = 0; m < SizeOf(maps); ++m) names->emplace(maps->Get(m)->tensor(), TextOf(maps->Get(m)->name()));
  }
}

}  // namespace

ModelScan ScanModel(std::span<const uint8_t> bytes, const ScanPolicy& policy) { return Scanner(bytes, policy).Run(); }

}  // namespace wasinn::tflite
