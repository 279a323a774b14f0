#include "tensorflow/graph_scan.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/proto_reader.h"
#include "common/dtype.h"
#include "common/throw.h"
#include "tensorflow/dtype.h"
#include "tensorflow/ops.h"

namespace wasinn::tensorflow {

using backend::Throw;
using base::ProtoField;

namespace {

// The limit of Protocol Buffers.
constexpr int kMaxDepth = 100;
// A node of TensorFlow's graph with its names, attributes and edges.
constexpr uint64_t kNodeBytes = 1024;
// An element that is no number: a string object.
constexpr uint64_t kOtherElementBytes = 24;

[[noreturn]] void Broken(const char* message) {
  Throw(WASINN_ERROR_INVALID_ENCODING, "the bytes are not a GraphDef of TensorFlow: broken {}", message);
}

void AddBytes(uint64_t bytes, uint64_t* sum) { *sum = backend::AddSat(*sum, bytes); }

// Calls `field_of` for each field of a message.
template <typename FieldOf>
void ForEach(std::span<const uint8_t> message, const char* name, FieldOf&& field_of) {
  if (!base::ForEachField(message, field_of)) Broken(name);
}

// Field numbers are those of graph.proto, node_def.proto, attr_value.proto, tensor.proto and function.proto.
class GraphReader {
 public:
  explicit GraphReader(GraphScan* scan) : scan_(scan) {}

  void ReadGraph(std::span<const uint8_t> bytes) {
    ForEach(bytes, "GraphDef", [this](const ProtoField& field) {
      if (field.IsBytes(1)) scan_->nodes.push_back(ReadNode(field.bytes));
      if (field.IsBytes(2)) ReadLibrary(field.bytes);
    });
  }

 private:
  void ReadLibrary(std::span<const uint8_t> bytes) {
    ForEach(bytes, "FunctionDefLibrary", [this](const ProtoField& field) {
      if (field.IsBytes(1)) ReadFunction(field.bytes);
    });
  }

  void ReadFunction(std::span<const uint8_t> bytes) {
    std::string_view name;
    std::vector<ScannedNode> nodes;
    std::vector<std::string_view> called;
    ForEach(bytes, "FunctionDef", [&](const ProtoField& field) {
      if (field.IsBytes(1)) name = NameIn(field.bytes, "OpDef");
      if (field.IsBytes(3)) nodes.push_back(ReadNode(field.bytes));
      if (field.IsBytes(5)) ReadEntry(field.bytes, &called, 0);
    });
    if (name.empty()) Broken("FunctionDef");
    // Another function of the same name does not replace this one.
    auto& all = scan_->functions[name];
    all.insert(all.end(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
    if (!called.empty()) all.push_back({name, "NoOp", {}, std::move(called)});
  }

  static std::string_view NameIn(std::span<const uint8_t> bytes, const char* message) {
    std::string_view name;
    ForEach(bytes, message, [&](const ProtoField& field) {
      if (field.IsBytes(1)) name = field.text();
    });
    return name;
  }

  ScannedNode ReadNode(std::span<const uint8_t> bytes) {
    ScannedNode node;
    ForEach(bytes, "NodeDef", [&](const ProtoField& field) {
      if (field.IsBytes(1)) node.name = field.text();
      if (field.IsBytes(2)) node.op = field.text();
      if (field.IsBytes(3)) node.inputs.push_back(field.text());
      if (field.IsBytes(5)) ReadEntry(field.bytes, &node.functions, 0);
    });
    if (node.name.empty() || node.op.empty()) Broken("NodeDef: a node without a name or an operation");
    AddBytes(kNodeBytes, &scan_->more_bytes);
    return node;
  }

  using Functions = std::vector<std::string_view>;

  // An entry of a map of attributes.
  void ReadEntry(std::span<const uint8_t> bytes, Functions* into, int depth) {
    if (depth > kMaxDepth) Broken("AttrValue: too deep");
    ForEach(bytes, "attribute", [&](const ProtoField& field) {
      if (field.IsBytes(2)) ReadValue(field.bytes, into, depth + 1);
    });
  }

  void ReadValue(std::span<const uint8_t> bytes, Functions* into, int depth) {
    if (depth > kMaxDepth) Broken("AttrValue: too deep");
    ForEach(bytes, "AttrValue", [&](const ProtoField& field) {
      if (field.IsBytes(1)) ReadList(field.bytes, into, depth + 1);
      if (field.IsBytes(8)) ReadTensor(field.bytes);
      if (field.IsBytes(10)) ReadFunctionName(field.bytes, into, depth + 1);
    });
  }

  void ReadList(std::span<const uint8_t> bytes, Functions* into, int depth) {
    ForEach(bytes, "ListValue", [&](const ProtoField& field) {
      if (field.IsBytes(8)) ReadTensor(field.bytes);
      if (field.IsBytes(9)) ReadFunctionName(field.bytes, into, depth + 1);
    });
  }

  void ReadFunctionName(std::span<const uint8_t> bytes, Functions* into, int depth) {
    ForEach(bytes, "NameAttrList", [&](const ProtoField& field) {
      if (field.IsBytes(1) && !field.text().empty()) into->push_back(field.text());
      if (field.IsBytes(2)) ReadEntry(field.bytes, into, depth + 1);
    });
  }

  // A tensor of a few bytes may say that its one value fills terabytes.
  void ReadTensor(std::span<const uint8_t> bytes) {
    uint64_t type = 0;
    std::vector<int64_t> dims;
    ForEach(bytes, "TensorProto", [&](const ProtoField& field) {
      if (field.IsVarint(1)) type = field.value;
      if (field.IsBytes(2)) ReadShape(field.bytes, &dims);
    });
    const size_t size = TfElementSize(static_cast<int>(std::min<uint64_t>(type, INT32_MAX)));
    AddBytes(backend::TensorBytes(dims, size == 0 ? kOtherElementBytes : size), &scan_->more_bytes);
  }

  static void ReadShape(std::span<const uint8_t> bytes, std::vector<int64_t>* dims) {
    ForEach(bytes, "TensorShapeProto", [&](const ProtoField& shape) {
      if (!shape.IsBytes(2)) return;
      int64_t size = 0;
      ForEach(shape.bytes, "Dim", [&](const ProtoField& dim) {
        if (dim.IsVarint(1)) size = static_cast<int64_t>(dim.value);
      });
      dims->push_back(size);
    });
  }

  GraphScan* const scan_;
};

std::string_view NodeOf(std::string_view input) {
  if (input.starts_with('^')) return input.substr(1);
  return input.substr(0, input.find(':'));
}

// `where`: " of function 'f'".
void CheckNodes(const std::vector<ScannedNode>& nodes, const std::string& where, bool is_saved_model) {
  for (const ScannedNode& node : nodes) {
    if (!ReachesOut(node.op) || (is_saved_model && IsOfSaver(node.op))) continue;
    Throw(WASINN_ERROR_SECURITY,
          "node '{}'{} is the operation {}, which reaches files, the network or other code; the configuration of a "
          "named model may allow it: allow_file_ops = true",
          node.name, where, node.op);
  }
}

}  // namespace

GraphScan ScanGraph(std::span<const uint8_t> bytes) {
  GraphScan scan;
  GraphReader(&scan).ReadGraph(bytes);
  if (scan.nodes.empty()) Throw(WASINN_ERROR_INVALID_ENCODING, "the bytes are not a GraphDef of TensorFlow: no nodes");
  return scan;
}

void CheckOps(const GraphScan& scan, bool is_saved_model) {
  CheckNodes(scan.nodes, "", is_saved_model);
  for (const auto& [name, nodes] : scan.functions) {
    CheckNodes(nodes, fmt::format(" of function '{}'", name), is_saved_model);
  }
}

std::vector<std::string_view> NodesWithoutConsumers(const GraphScan& scan) {
  std::unordered_set<std::string_view> consumed;
  for (const ScannedNode& node : scan.nodes) {
    for (const std::string_view input : node.inputs) consumed.insert(NodeOf(input));
  }
  std::vector<std::string_view> names;
  for (const ScannedNode& node : scan.nodes) {
    if (!consumed.contains(node.name)) names.push_back(node.name);
  }
  return names;
}

Effects FindEffects(const GraphScan& scan, std::span<const std::string> outputs) {
  std::unordered_map<std::string_view, const ScannedNode*> by_name;
  for (const ScannedNode& node : scan.nodes) by_name.emplace(node.name, &node);
  std::unordered_set<std::string_view> seen_nodes, seen_functions;
  std::vector<std::string_view> nodes(outputs.begin(), outputs.end()), functions;
  Effects effects = {.keeps_state = false, .keeps_inputs = false, .gives_parts = false};
  const auto add = [&](const ScannedNode& node) {
    functions.insert(functions.end(), node.functions.begin(), node.functions.end());
    if (scan.functions.contains(node.op)) {
      functions.push_back(node.op);
      return;
    }
    if (!GivesWholeBuffers(node.op)) effects.gives_parts = true;
    if (DrawsRandom(node.op)) {
      effects.keeps_state = true;
    } else if (!IsPure(node.op) && !OnlyReadsState(node.op)) {
      effects.keeps_state = effects.keeps_inputs = true;
    }
  };
  while (!nodes.empty()) {
    const std::string_view name = NodeOf(nodes.back());
    nodes.pop_back();
    const auto found = by_name.find(name);
    if (found == by_name.end() || !seen_nodes.insert(name).second) continue;
    add(*found->second);
    nodes.insert(nodes.end(), found->second->inputs.begin(), found->second->inputs.end());
  }
  while (!functions.empty()) {
    const auto function = scan.functions.find(functions.back());
    functions.pop_back();
    if (function == scan.functions.end() || !seen_functions.insert(function->first).second) continue;
    for (const ScannedNode& node : function->second) add(node);
  }
  return effects;
}

}  // namespace wasinn::tensorflow
