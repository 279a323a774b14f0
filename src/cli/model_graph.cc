#include "cli/model_graph.h"

#include <fmt/format.h>

#include "settings/text.h"

namespace wasinn::cli {
namespace {

// Names may come from others: characters that end a string, or a line, are escaped.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : settings::Printable(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? "\\n" : std::string(1, c);
  }
  return quoted + "\"";
}

const char* StyleOf(ModelGraph::Kind kind) {
  switch (kind) {
    case ModelGraph::Kind::kInput:
      return "shape=ellipse, fillcolor=\"#d5e8d4\"";
    case ModelGraph::Kind::kOutput:
      return "shape=ellipse, fillcolor=\"#f8cecc\"";
    case ModelGraph::Kind::kOperator:
      break;
  }
  return "shape=box, fillcolor=\"#dae8fc\"";
}

}  // namespace

ModelGraph PipelineGraph(const std::vector<std::string>& steps, const std::string& inputs, const std::string& outputs) {
  ModelGraph graph;
  graph.nodes.push_back({ModelGraph::Kind::kInput, inputs, "inputs"});
  for (const std::string& step : steps) graph.nodes.push_back({ModelGraph::Kind::kOperator, step, step});
  graph.nodes.push_back({ModelGraph::Kind::kOutput, outputs, "outputs"});
  for (size_t i = 1; i < graph.nodes.size(); ++i) graph.edges.push_back({i - 1, i, ""});
  return graph;
}

std::string ToDot(const ModelGraph& graph) {
  std::string dot =
      "digraph model {\n  node [style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=11];\n"
      "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#666666\"];\n";
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const ModelGraph::Node& node = graph.nodes[i];
    dot += fmt::format("  n{} [label={}, tooltip={}, {}];\n", i, Quoted(node.label), Quoted(node.name),
                       StyleOf(node.kind));
  }
  for (const ModelGraph::Edge& edge : graph.edges) {
    dot += fmt::format("  n{} -> n{} [label={}];\n", edge.from, edge.to, Quoted(edge.label));
  }
  return dot + "}\n";
}

}  // namespace wasinn::cli
