// Reads the graph of an ONNX model: the messages of onnx.proto, by the numbers of their fields.
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/proto_reader.h"
#include "cli/model_graph.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

using base::ProtoField;
using Bytes = std::span<const uint8_t>;

// `use` gets each field of a message.
template <typename Use>
void EachField(Bytes message, const Use& use) {
  if (!base::ForEachField(message, use))
    throw std::runtime_error("the bytes are not an ONNX model: a field is cut off, or of an unknown kind");
}

// A name or a shape for the drawing, which shows it once for each operator that takes it.
std::string Short(std::string_view text) {
  constexpr size_t kTextBytes = 256;
  if (text.size() <= kTextBytes) return settings::PrintableName(text);
  size_t end = kTextBytes;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // keeps characters whole
  return settings::PrintableName(text.substr(0, end)) + "…";
}

class Shape {
 public:
  void Add(std::string_view dim) {
    constexpr size_t kDims = 64;
    if (++count_ > kDims + 1) return;
    text_ += count_ == 1 ? "" : "×";
    text_ += count_ > kDims ? "…" : Short(dim);
  }
  std::string ToString() const { return count_ == 0 ? "scalar" : Short(text_); }

 private:
  std::string text_;
  size_t count_ = 0;
};

// The shape in a ValueInfoProto's type.
std::string ShapeOfType(Bytes type) {
  std::string shape;
  EachField(type, [&](const ProtoField& tensor) {
    if (tensor.number != 1) return;  // a sequence or a map
    EachField(tensor.bytes, [&](const ProtoField& its) {
      if (its.number != 2) return;
      Shape dims;
      EachField(its.bytes, [&](const ProtoField& dim) {
        std::string text = "?";
        EachField(dim.bytes, [&](const ProtoField& value) {
          text = value.number == 1 ? std::to_string(static_cast<int64_t>(value.value)) : Short(value.text());
        });
        dims.Add(text);
      });
      shape = dims.ToString();
    });
  });
  return shape;
}

struct Value {
  std::string_view name;  // in the model's bytes
  std::string shape;
};

Value ReadValue(Bytes message) {
  Value value;
  EachField(message, [&](const ProtoField& field) {
    if (field.number == 1) value.name = field.text();
    if (field.number == 2) value.shape = ShapeOfType(field.bytes);
  });
  return value;
}

// Reads a TensorProto, which has its dims one by one, or packed.
Value ReadTensor(Bytes message) {
  Value value;
  Shape dims;
  EachField(message, [&](const ProtoField& field) {
    if (field.number == 8) value.name = field.text();
    if (field.number != 1) return;
    if (field.type == ProtoField::Type::kVarint) dims.Add(std::to_string(field.value));
    uint64_t number = 0;
    unsigned shift = 0;
    for (const uint8_t byte : field.bytes) {
      if (shift < 64) number |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      dims.Add(std::to_string(number));
      number = shift = 0;
    }
  });
  value.shape = dims.ToString();
  return value;
}

struct Operator {
  std::string_view name, type;
  std::vector<std::string_view> inputs, outputs;
};

Operator ReadNode(Bytes message) {
  Operator node;
  EachField(message, [&](const ProtoField& field) {
    if (field.number == 1) node.inputs.emplace_back(field.text());
    if (field.number == 2) node.outputs.emplace_back(field.text());
    if (field.number == 3) node.name = field.text();
    if (field.number == 4) node.type = field.text();
  });
  return node;
}

struct Parts {
  std::vector<Operator> operators;
  std::vector<Value> inputs, outputs;
  std::map<std::string_view, std::string> weights, shapes;  // by the names of tensors
};

// Refuses a graph that no one can look at, and for which Graphviz would take hours.
void CheckSize(Bytes graph) {
  constexpr size_t kNodes = 20'000, kEdges = 100'000;
  size_t nodes = 0, edges = 0;
  EachField(graph, [&](const ProtoField& field) {
    if (field.type != ProtoField::Type::kBytes) return;
    if (field.number == 1 || field.number == 11 || field.number == 12) ++nodes;
    if (field.number == 12) ++edges;
    if (field.number != 1) return;
    EachField(field.bytes, [&](const ProtoField& its) { edges += its.number == 1 ? 1 : 0; });
  });
  if (nodes > kNodes) throw std::runtime_error(fmt::format("too large to draw: {} nodes", nodes));
  if (edges > kEdges) throw std::runtime_error(fmt::format("too large to draw: {} edges", edges));
}

Parts ReadGraph(Bytes message) {
  Parts parts;
  const auto add_value = [&](std::vector<Value>& list, Bytes bytes) {
    list.push_back(ReadValue(bytes));
    parts.shapes[list.back().name] = list.back().shape;
  };
  EachField(message, [&](const ProtoField& field) {
    if (field.type != ProtoField::Type::kBytes) return;
    if (field.number == 1) parts.operators.push_back(ReadNode(field.bytes));
    if (field.number == 11) add_value(parts.inputs, field.bytes);
    if (field.number == 12) add_value(parts.outputs, field.bytes);
    if (field.number == 13) {
      Value inside = ReadValue(field.bytes);
      parts.shapes[inside.name] = std::move(inside.shape);
    }
    if (field.number != 5) return;
    Value weight = ReadTensor(field.bytes);
    parts.weights[weight.name] = std::move(weight.shape);
  });
  return parts;
}

// The operator, and the shapes of weights that it takes.
std::string LabelOf(const Operator& node, const Parts& parts) {
  constexpr size_t kWeights = 16;
  std::string label = Short(node.type);
  size_t count = 0;
  for (const std::string_view input : node.inputs) {
    const auto weight = parts.weights.find(input);
    if (weight == parts.weights.end()) continue;
    if (++count > kWeights) return label + "\n…";
    label += "\n" + weight->second;
  }
  return label;
}

ModelGraph::Node NodeOf(ModelGraph::Kind kind, const Value& value) {
  const std::string name = Short(value.name);
  return {kind, name + "\n" + value.shape, name};
}

ModelGraph ToGraph(const Parts& parts) {
  ModelGraph graph;
  std::map<std::string_view, size_t> makers;  // by the names of their outputs
  for (const Value& input : parts.inputs) {
    if (parts.weights.contains(input.name)) continue;  // before version 4 of the format, weights are inputs, too
    makers[input.name] = graph.nodes.size();
    graph.nodes.push_back(NodeOf(ModelGraph::Kind::kInput, input));
  }
  const size_t first = graph.nodes.size();
  for (const Operator& node : parts.operators) {
    for (const std::string_view output : node.outputs) makers[output] = graph.nodes.size();
    graph.nodes.push_back({ModelGraph::Kind::kOperator, LabelOf(node, parts), Short(node.name)});
  }
  const auto connect = [&](std::string_view tensor, size_t to) {
    const auto maker = makers.find(tensor);
    if (maker == makers.end()) return;
    const auto shape = parts.shapes.find(tensor);
    graph.edges.push_back({maker->second, to, shape == parts.shapes.end() ? "" : shape->second});
  };
  for (size_t i = 0; i < parts.operators.size(); ++i) {
    for (const std::string_view input : parts.operators[i].inputs) connect(input, first + i);
  }
  for (const Value& output : parts.outputs) {
    connect(output.name, graph.nodes.size());
    graph.nodes.push_back(NodeOf(ModelGraph::Kind::kOutput, output));
  }
  return graph;
}

}  // namespace

std::expected<ModelGraph, std::string> ReadOnnxGraph(std::string_view bytes) {
  try {
    std::optional<Bytes> graph;
    EachField({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, [&](const ProtoField& field) {
      if (field.number == 7 && field.type == ProtoField::Type::kBytes) graph = field.bytes;
    });
    if (!graph) return std::unexpected("the bytes are not an ONNX model: it has no graph");
    CheckSize(*graph);
    return ToGraph(ReadGraph(*graph));
  } catch (const std::runtime_error& error) {
    return std::unexpected(error.what());
  }
}

}  // namespace wasinn::cli
