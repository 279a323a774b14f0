// The graph of a model, to be drawn.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::cli {

struct ModelGraph {
  enum class Kind { kInput, kOperator, kOutput };
  struct Node {
    Kind kind = Kind::kOperator;
    std::string label;  // lines
    std::string name;
  };
  struct Edge {
    size_t from = 0, to = 0;  // places in `nodes`
    std::string label;        // the tensor's shape, where the model tells it
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

// Of an ONNX model's bytes. Weights are told by their shapes, in the operators that take them; graphs inside of operators are left out.
std::expected<ModelGraph, std::string> ReadOnnxGraph(std::string_view bytes);

// Of a pipeline: its models, in their order.
ModelGraph PipelineGraph(const std::vector<std::string>& steps, const std::string& inputs, const std::string& outputs);

// In the language of Graphviz.
std::string ToDot(const ModelGraph& graph);

}  // namespace wasinn::cli
