// The graph of a model, for a drawing.
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
    size_t from = 0, to = 0;  // indices in `nodes`
    std::string label;        // the tensor's shape, if the model has it
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

// Reads an ONNX model. Weights only appear as shapes, in the operators that take them; inner graphs are left out.
std::expected<ModelGraph, std::string> ReadOnnxGraph(std::string_view bytes);

// For a pipeline: its models, in order.
ModelGraph PipelineGraph(const std::vector<std::string>& steps, const std::string& inputs, const std::string& outputs);

// In the language of Graphviz.
std::string ToDot(const ModelGraph& graph);

}  // namespace wasinn::cli
