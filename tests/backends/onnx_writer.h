// Writes ONNX models, whole ones and broken ones, field by field.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/proto_writer.h"

namespace wasinn::test {

// Element types of TensorProto.
inline constexpr int kFloat = 1, kInt64 = 7, kString = 8, kBool = 9, kFloat8 = 17, kInt4 = 22, kComplex64 = 14;

// Dims of a value; kUnknown: a dim that may be anything.
inline constexpr int64_t kUnknown = -1;

inline Proto TensorType(int element, const std::vector<int64_t>& dims) {
  Proto shape;
  for (const int64_t dim : dims) {
    shape.Add(1, dim == kUnknown ? Proto().Text(2, "n") : Proto().Int(1, static_cast<uint64_t>(dim)));
  }
  return Proto().Add(1, Proto().Int(1, element).Add(2, shape));
}
inline Proto TensorTypeOfAnyRank(int element) { return Proto().Add(1, Proto().Int(1, element)); }
inline Proto Value(const std::string& name, const Proto& type) { return Proto().Text(1, name).Add(2, type); }
inline Proto Value(const std::string& name, int element, const std::vector<int64_t>& dims) {
  return Value(name, TensorType(element, dims));
}

inline Proto Node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs) {
  Proto node;
  for (const auto& input : inputs) node.Text(1, input);
  for (const auto& output : outputs) node.Text(2, output);
  return node.Text(4, op);
}

// A function of a model (its field 25): one node from `input` to `output`.
inline Proto Function(const std::string& domain, const std::string& name, const std::string& input,
                      const std::string& output, const Proto& node) {
  const Proto opset = Proto().Text(1, "").Int(2, 17);
  return Proto().Text(1, name).Text(4, input).Text(5, output).Add(7, node).Add(9, opset).Text(10, domain);
}

// Bytes as they lie in memory.
template <typename T>
Proto Constant(const std::string& name, int element, const std::vector<int64_t>& dims, const std::vector<T>& values) {
  Proto tensor;
  for (const int64_t dim : dims) tensor.Int(1, static_cast<uint64_t>(dim));
  std::string raw;
  for (const T& value : values) raw.append(reinterpret_cast<const char*>(&value), sizeof(T));
  return tensor.Int(2, element).Text(8, name).Text(9, raw);
}
// A tensor whose bytes are said to lie in another file.
inline Proto External(const std::string& name, int element, const std::vector<int64_t>& dims, const std::string& file) {
  Proto tensor;
  for (const int64_t dim : dims) tensor.Int(1, static_cast<uint64_t>(dim));
  return tensor.Int(2, element).Text(8, name).Add(13, Proto().Text(1, "location").Text(2, file)).Int(14, 1);
}

inline Proto TensorAttribute(const std::string& name, const Proto& tensor) {
  return Proto().Text(1, name).Add(5, tensor).Int(20, 4);
}
inline Proto GraphAttribute(const std::string& name, const Proto& graph) {
  return Proto().Text(1, name).Add(6, graph).Int(20, 5);
}

struct Graph {
  std::vector<Proto> nodes, constants, inputs, outputs;

  Proto Write() const {
    Proto graph;
    for (const auto& node : nodes) graph.Add(1, node);
    graph.Text(2, "graph");
    for (const auto& constant : constants) graph.Add(5, constant);
    for (const auto& input : inputs) graph.Add(11, input);
    for (const auto& output : outputs) graph.Add(12, output);
    return graph;
  }
};

inline Proto WriteModel(const Proto& graph, uint64_t opset = 17) {
  return Proto().Int(1, 8).Add(7, graph).Add(8, Proto().Text(1, "").Int(2, opset));
}
inline std::string ModelOf(const Graph& graph, uint64_t opset = 17) { return WriteModel(graph.Write(), opset).bytes(); }

inline Proto IntAttribute(const std::string& name, int64_t value) {
  return Proto().Text(1, name).Int(3, static_cast<uint64_t>(value)).Int(20, 2);
}

inline Proto IntsAttribute(const std::string& name, const std::vector<int64_t>& values) {
  Proto attribute = Proto().Text(1, name).Int(20, 7);
  for (const int64_t value : values) attribute.Int(8, static_cast<uint64_t>(value));
  return attribute;
}
inline Proto TextAttribute(const std::string& name, const std::string& value) {
  return Proto().Text(1, name).Text(4, value).Int(20, 3);
}
inline Proto TextsAttribute(const std::string& name, const std::vector<std::string>& values) {
  Proto attribute = Proto().Text(1, name).Int(20, 8);
  for (const std::string& value : values) attribute.Text(9, value);
  return attribute;
}

// A model that has operators of another domain, too.
inline std::string ModelWithDomain(const std::string& domain, uint64_t version, const Graph& graph) {
  return WriteModel(graph.Write()).Add(8, Proto().Text(1, domain).Int(2, version)).bytes();
}

// y = op(x), of floats of these dims.
inline std::string OneNode(const std::string& op, const std::vector<int64_t>& dims) {
  return ModelOf(
      {.nodes = {Node(op, {"x"}, {"y"})}, .inputs = {Value("x", kFloat, dims)}, .outputs = {Value("y", kFloat, dims)}});
}

// A loop without an end from x to y.
inline std::string EndlessLoop(const Graph& body) {
  return ModelOf(
      {.nodes = {Node("Loop", {"rounds", "start", "x"}, {"y"}).Add(5, GraphAttribute("body", body.Write()))},
       .constants = {Constant<int64_t>("rounds", kInt64, {}, {INT64_MAX}), Constant<bool>("start", kBool, {}, {true})},
       .inputs = {Value("x", kFloat, {1})},
       .outputs = {Value("y", kFloat, {1})}});
}

// y = x + the greatest element of c, to which the nodes lead.
inline Proto AddsGreatest(std::vector<Proto> nodes, const std::vector<Proto>& constants) {
  nodes.push_back(Node("Cast", {"c"}, {"f"}).Add(5, IntAttribute("to", kFloat)));
  nodes.push_back(Node("ReduceMax", {"f"}, {"m"}).Add(5, IntAttribute("keepdims", 0)));
  nodes.push_back(Node("Add", {"x", "m"}, {"y"}));
  return WriteModel(Graph{.nodes = std::move(nodes),
                          .constants = constants,
                          .inputs = {Value("x", kFloat, {1})},
                          .outputs = {Value("y", TensorTypeOfAnyRank(kFloat))}}
                        .Write());
}

}  // namespace wasinn::test
