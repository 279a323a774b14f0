#include "tflite/model_scan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "common/dtype.h"
#include "common/throw.h"
#include "tflite/schema.fbs.h"  // from flatc
#include "tflite/string_block.h"

namespace wasinn::tflite {

using backend::Throw;

namespace {

using Numbers = flatbuffers::Vector<int32_t>;
template <typename Table>
using Tables = flatbuffers::Vector<flatbuffers::Offset<Table>>;

// An absent vector is empty.
template <typename T>
uint32_t SizeOf(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}
std::span<const int32_t> SpanOf(const Numbers* numbers) {
  return numbers == nullptr ? std::span<const int32_t>() : std::span(numbers->data(), numbers->size());
}
std::string_view TextOf(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

// Operators that this scan handles.
constexpr int32_t kAveragePool = 1, kConv = 3, kDepthwiseConv = 4, kL2Pool = 12, kMaxPool = 17, kTransposeConv = 67,
                  kConv3d = 132, kConv3dTranspose = 141, kCustom = 32, kDiv = 42, kFloorMod = 95, kIf = 118,
                  kWhile = 119, kCallOnce = 129, kHashtable = 136, kHashtableSize = 139, kVarHandle = 142,
                  kAssignVariable = 144, kRandomNormal = 146, kRandomUniform = 148, kMultinomial = 149;

// The limits of TensorFlow Lite's own verifier.
constexpr uint32_t kMaxDepth = 64, kMaxTables = 1'000'000;
// In a larger file, FlatBuffers' part comes first, and weights follow.
constexpr size_t kMaxFlat = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

[[noreturn]] void ThrowInvalid(const std::string& what) {
  Throw(WASINN_ERROR_INVALID_ENCODING, "broken model: {}", what);
}

// Whether its value is in the model's buffers.
bool IsConstant(const schema::Tensor& tensor, const Tables<schema::Buffer>* buffers) {
  if (tensor.buffer() >= SizeOf(buffers)) return false;
  const schema::Buffer& buffer = *buffers->Get(tensor.buffer());
  return SizeOf(buffer.data()) > 0 || buffer.size() > 0;
}

// The value of a constant; no bytes if it lies outside of the file.
std::span<const char> ValueOf(const schema::Tensor& tensor, const Tables<schema::Buffer>* buffers,
                              std::span<const uint8_t> file) {
  const schema::Buffer& buffer = *buffers->Get(tensor.buffer());
  if (SizeOf(buffer.data()) > 0) return {reinterpret_cast<const char*>(buffer.data()->data()), buffer.data()->size()};
  if (buffer.offset() > file.size() || buffer.size() > file.size() - buffer.offset()) return {};
  return {reinterpret_cast<const char*>(file.data()) + buffer.offset(), buffer.size()};
}

// The lifetime of each tensor of a graph. Tensors that only depend on constants are made once, and stay.
std::vector<Lifetime> LivesOf(const schema::SubGraph& graph, const Tables<schema::Buffer>* buffers) {
  const uint32_t tensors = SizeOf(graph.tensors()), operators = SizeOf(graph.operators());
  std::vector<Lifetime> lives(tensors);
  std::vector<bool> lasts(tensors);
  for (uint32_t i = 0; i < tensors; ++i) lasts[i] = IsConstant(*graph.tensors()->Get(i), buffers);
  const auto each = [tensors](const Numbers* indices, const auto& visit) {
    for (const int32_t tensor : SpanOf(indices)) {
      if (tensor >= 0 && static_cast<uint32_t>(tensor) < tensors) visit(static_cast<uint32_t>(tensor));
    }
  };
  for (uint32_t op = 0; op < operators; ++op) {
    const schema::Operator& one = *graph.operators()->Get(op);
    bool of_constants = true;
    each(one.inputs(), [&](uint32_t tensor) {
      lives[tensor].last = std::max(lives[tensor].last, op);
      of_constants = of_constants && lasts[tensor];
    });
    each(one.outputs(), [&](uint32_t tensor) {
      lasts[tensor] = of_constants;
      lives[tensor] = {.computed = true, .first = of_constants ? 0 : op, .last = of_constants ? operators - 1 : op};
    });
  }
  return lives;
}

// At least the bytes, because most elements have more than one.
uint64_t BytesOf(std::span<const int32_t> shape) {
  uint64_t bytes = 1;
  for (const int32_t dim : shape) bytes = backend::MulSat(bytes, static_cast<uint64_t>(std::max(dim, 0)));
  return bytes;
}

// After this check, all reads are inside of the bytes.
const schema::Model& Verified(std::span<const uint8_t> bytes) {
  if (!IsVerified(bytes)) ThrowInvalid("a part of it lies outside of the file");
  return *schema::GetModel(bytes.data());
}

class Scanner {
 public:
  Scanner(std::span<const uint8_t> bytes, Trust trust, const std::string& signature)
      : bytes_(bytes),
        trust_(trust),
        signature_(signature),
        model_(Verified(bytes)),
        graphs_(model_.graphs()),
        buffers_(model_.buffers()) {}

  ModelScan Run() {
    if (SizeOf(graphs_) == 0) ThrowInvalid("it has no graph");
    ReadCodes();
    CountConstants();
    for (uint32_t i = 0; i < graphs_->size(); ++i) {
      ReadTensors(*graphs_->Get(i));
      ReadDivisions(*graphs_->Get(i));
    }
    ReadMainGraph(*graphs_->Get(0));
    return std::move(scan_);
  }

 private:
  // The inputs or the outputs of a signature.
  using Maps = const Tables<schema::TensorMap>* (schema::Signature::*)() const;

  void ReadCodes() {
    for (uint32_t i = 0; i < SizeOf(model_.codes()); ++i) {
      const schema::OperatorCode& entry = *model_.codes()->Get(i);
      const int32_t code = std::max<int32_t>(entry.old_code(), entry.code());
      const std::string_view name = TextOf(entry.custom());
      codes_.push_back(code);
      const bool deconvolution = code == kCustom && name == kDeconvolution;
      const bool custom = code == kCustom && !deconvolution;
      scan_.has_custom_ops = scan_.has_custom_ops || custom;
      scan_.has_deconvolution = scan_.has_deconvolution || deconvolution;
      // For these TensorFlow Lite loads TensorFlow's own library by its plain name.
      if (trust_ == Trust::kGuest && custom && name.starts_with("Flex")) {
        Throw(WASINN_ERROR_SECURITY,
              "operator '{}': operators of TensorFlow are not allowed in a model from bytes or in a worker", name);
      }
      // Random numbers continue where the last run ended.
      const bool state = code == kCallOnce || custom || (code >= kHashtable && code <= kHashtableSize) ||
                         (code >= kVarHandle && code <= kAssignVariable) || code == kRandomNormal ||
                         code == kRandomUniform || code == kMultinomial;
      scan_.keeps_state = scan_.keeps_state || state;
    }
  }

  void CountConstants() {
    for (uint32_t i = 0; i < SizeOf(buffers_); ++i) {
      const schema::Buffer& buffer = *buffers_->Get(i);
      scan_.constants = backend::AddSat(scan_.constants, std::max<uint64_t>(SizeOf(buffer.data()), buffer.size()));
    }
  }

  void ReadTensors(const schema::SubGraph& graph) {
    for (uint32_t i = 0; i < SizeOf(graph.tensors()); ++i) {
      const schema::Tensor& tensor = *graph.tensors()->Get(i);
      if (!IsConstant(tensor, buffers_)) scan_.bytes = backend::AddSat(scan_.bytes, BytesOf(SpanOf(tensor.shape())));
      scan_.has_variables = scan_.has_variables || tensor.is_variable();
      CheckStrings(tensor);
    }
  }

  // TensorFlow Lite's kernels believe what a constant says of its strings. Many tensors may have one block, and blocks
  // of an attacker may overlap: all together are looked at once.
  void CheckStrings(const schema::Tensor& tensor) {
    constexpr int8_t kString = 5;
    if (tensor.type() != kString || !IsConstant(tensor, buffers_)) return;
    const std::span<const char> block = ValueOf(tensor, buffers_, bytes_);
    const uint64_t count = BytesOf(SpanOf(tensor.shape()));
    const auto [known, is_new] = strings_.emplace(block.data(), count);
    if (!is_new && known->second == count) return;
    n_strings_ = backend::AddSat(n_strings_, count);
    uint64_t longest = 0;
    if (n_strings_ <= bytes_.size() && string_block::Holds(block, count, &longest)) return;
    ThrowInvalid(fmt::format("tensor '{}' has other strings than its shape says", TextOf(tensor.name())));
  }

  void ReadDivisions(const schema::SubGraph& graph) {
    constexpr int8_t kInt32 = 2, kInt64 = 4;
    for (uint32_t i = 0; i < SizeOf(graph.operators()); ++i) {
      const schema::Operator& op = *graph.operators()->Get(i);
      const int32_t code = op.code() < codes_.size() ? codes_[op.code()] : -1;
      const std::span<const int32_t> inputs = SpanOf(op.inputs());
      if ((code != kDiv && code != kFloorMod) || inputs.size() != 2) continue;
      if (inputs[1] < 0 || static_cast<uint32_t>(inputs[1]) >= SizeOf(graph.tensors())) continue;
      const schema::Tensor& divisor = *graph.tensors()->Get(static_cast<uint32_t>(inputs[1]));
      const bool integers = divisor.type() == kInt32 || divisor.type() == kInt64;
      scan_.divides_integers = scan_.divides_integers || (integers && !IsConstant(divisor, buffers_));
    }
  }

  void ReadMainGraph(const schema::SubGraph& graph) {
    scan_.tensors = SizeOf(graph.tensors());
    scan_.operators = SizeOf(graph.operators());
    for (uint32_t i = 0; i < scan_.operators; ++i) AddWindow(*graph.operators()->Get(i));
    scan_.lives = LivesOf(graph, buffers_);
    ReadPorts(graph, graph.inputs(), &schema::Signature::inputs, &scan_.inputs);
    ReadPorts(graph, graph.outputs(), &schema::Signature::outputs, &scan_.outputs);
    std::set<int32_t> seen;
    for (const ScannedPort& input : scan_.inputs) {
      if (!seen.insert(input.tensor).second) ThrowInvalid(fmt::format("tensor {} is an input twice", input.tensor));
    }
  }

  void AddWindow(const schema::Operator& op) {
    if (op.code() >= codes_.size()) ThrowInvalid(fmt::format("an operator of the unknown kind {}", op.code()));
    switch (codes_[op.code()]) {
      case kAveragePool:
      case kConv:
      case kDepthwiseConv:
      case kL2Pool:
      case kMaxPool:
      case kTransposeConv:
      case kConv3d:
      case kConv3dTranspose:
        break;
      default:
        return;
    }
    WindowOperator& window = scan_.windows.emplace_back();
    window.code = codes_[op.code()];
    window.is_convolution = window.code == kConv;
    const std::span<const int32_t> inputs = SpanOf(op.inputs()), outputs = SpanOf(op.outputs());
    window.inputs.assign(inputs.begin(), inputs.end());
    window.outputs.assign(outputs.begin(), outputs.end());
  }

  void ReadPorts(const schema::SubGraph& graph, const Numbers* indices, Maps maps_of, std::vector<ScannedPort>* ports) {
    const uint32_t tensors = SizeOf(graph.tensors());
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
      SetShape(tensor, &port);
    }
  }

  // The converter's names, if the model has a signature; tensors' names carry decorations. The first one counts.
  void ReadNames(Maps maps_of, std::map<uint32_t, std::string_view>* names) {
    const Tables<schema::Signature>* const signatures = model_.signatures();
    for (uint32_t i = 0; i < SizeOf(signatures); ++i) {
      const schema::Signature& signature = *signatures->Get(i);
      const bool counts = signature_.empty() ? signature.graph() == 0 : TextOf(signature.key()) == signature_;
      if (!counts) continue;
      const Tables<schema::TensorMap>* const maps = (signature.*maps_of)();
      for (uint32_t m = 0; m < SizeOf(maps); ++m) names->emplace(maps->Get(m)->tensor(), TextOf(maps->Get(m)->name()));
    }
  }

  static void SetShape(const schema::Tensor& tensor, ScannedPort* port) {
    const std::span<const int32_t> signature = SpanOf(tensor.shape_signature()), shape = SpanOf(tensor.shape());
    const std::span<const int32_t> known = signature.empty() ? shape : signature;
    port->shape.assign(known.begin(), known.end());
    port->bytes = BytesOf(shape);
    port->has_shape = !known.empty() || tensor.has_rank();
  }

  const std::span<const uint8_t> bytes_;
  const Trust trust_;
  const std::string& signature_;
  const schema::Model& model_;
  const Tables<schema::SubGraph>* const graphs_;  // NULL: none, as for all vectors
  const Tables<schema::Buffer>* const buffers_;
  std::vector<int32_t> codes_;
  std::map<const char*, uint64_t> strings_;  // of blocks of constants: how many
  uint64_t n_strings_ = 0;
  ModelScan scan_;
};

bool CallsGraphs(const schema::Model& model) {
  const auto* const codes = model.codes();
  for (uint32_t i = 0; i < SizeOf(codes); ++i) {
    const int32_t code = std::max<int32_t>(codes->Get(i)->code(), codes->Get(i)->old_code());
    if (code == kIf || code == kWhile || code == kCallOnce) return true;
  }
  return false;
}

}  // namespace

ModelScan ScanModel(std::span<const uint8_t> bytes, Trust trust, const std::string& signature) {
  return Scanner(bytes, trust, signature).Run();
}

bool IsVerified(std::span<const uint8_t> bytes) {
  flatbuffers::Verifier verifier(bytes.data(), std::min(bytes.size(), kMaxFlat), kMaxDepth, kMaxTables);
  return schema::VerifyModelBuffer(verifier);
}

std::vector<std::string> SignatureKeys(std::span<const uint8_t> bytes) {
  std::vector<std::string> keys;
  const auto* const signatures = schema::GetModel(bytes.data())->signatures();
  for (uint32_t i = 0; i < SizeOf(signatures); ++i) keys.emplace_back(TextOf(signatures->Get(i)->key()));
  return keys;
}

uint32_t GraphOf(std::span<const uint8_t> bytes, const std::string& key) {
  const schema::Model& model = *schema::GetModel(bytes.data());
  const std::vector<std::string> keys = SignatureKeys(bytes);
  const auto found = std::ranges::find(keys, key);
  if (found == keys.end()) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "signature: expected one of the model's, '{}', found '{}'",
          fmt::join(keys, "', '"), key);
  }
  const uint32_t graph = model.signatures()->Get(static_cast<uint32_t>(found - keys.begin()))->graph();
  if (graph >= SizeOf(model.graphs()))
    Throw(WASINN_ERROR_INVALID_ENCODING, "broken model: a signature without a graph");
  if (graph != 0 && CallsGraphs(model)) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "signature '{}' is not the first of the model, whose graphs call each other: export it alone", key);
  }
  return graph;
}

// An offset counts from its own place.
void MakeFirst(std::span<uint8_t> bytes, uint32_t graph) {
  const auto& graphs = *schema::GetModel(bytes.data())->graphs();
  uint8_t* const first = const_cast<uint8_t*>(graphs.Data());
  uint8_t* const other = first + graph * sizeof(flatbuffers::uoffset_t);
  const auto target = [](const uint8_t* at) { return at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at); };
  const uint8_t* const of_first = target(first);
  const uint8_t* const of_other = target(other);
  if (of_first <= other || of_other <= first)
    Throw(WASINN_ERROR_INVALID_ENCODING, "broken model: a graph lies in the list of graphs");
  flatbuffers::WriteScalar(first, static_cast<flatbuffers::uoffset_t>(of_other - first));
  flatbuffers::WriteScalar(other, static_cast<flatbuffers::uoffset_t>(of_first - other));
}

}  // namespace wasinn::tflite
