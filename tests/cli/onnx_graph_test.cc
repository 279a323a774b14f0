// The reader of ONNX graphs, on bytes that are cut or changed.
#include "cli/model_graph.h"

#include "engines/read_file.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::cli {
namespace {

using testing::Repeated;

std::string Digits() { return engines::ReadFile(testing::InSources("models/digits.onnx")).value(); }

TEST(OnnxGraphTest, ReadsOperatorsInTheirOrder) {
  const auto graph = ReadOnnxGraph(Digits());
  ASSERT_TRUE(graph) << graph.error();
  EXPECT_EQ(graph->nodes.front().kind, ModelGraph::Kind::kInput);
  EXPECT_EQ(graph->nodes.back().kind, ModelGraph::Kind::kOutput);
  EXPECT_EQ(graph->edges.size(), graph->nodes.size() - 1);
}

TEST(OnnxGraphTest, EachCutIsReadOrRefused) {
  const std::string whole = Digits();
  for (size_t size = 0; size < whole.size(); size += size < 2000 ? 1 : 499) {
    const auto graph = ReadOnnxGraph(std::string_view(whole).substr(0, size));
    if (!graph) {
      EXPECT_NE(graph.error().find("not an ONNX model"), std::string::npos);
    }
  }
}

TEST(OnnxGraphTest, EachChangedByteIsReadOrRefused) {
  const std::string whole = Digits();
  for (size_t at = 0; at < 2000; ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0xff);
    if (const auto graph = ReadOnnxGraph(changed)) {
      for (const ModelGraph::Edge& edge : graph->edges) {
        EXPECT_LT(edge.from, graph->nodes.size());
        EXPECT_LT(edge.to, graph->nodes.size());
      }
    }
  }
}

std::string Varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(0x80 | (number & 0x7f));
  return bytes += static_cast<char>(number);
}

std::string Field(int number, const std::string& bytes) {
  return static_cast<char>(number << 3 | 2) + Varint(bytes.size()) + bytes;
}

std::string Node(const std::string& inputs) { return Field(1, inputs + Field(2, "y") + Field(4, "Op")); }

// "x" of the dims, a ValueInfoProto.
std::string InputX(const std::string& dims) { return Field(11, Field(1, "x") + Field(2, Field(1, Field(2, dims)))); }

std::string Model(const std::string& graph) { return Field(7, graph); }

TEST(OnnxGraphTest, ShapesAndNamesAreCutForEachThatTakesThem) {
  const std::string letters = Repeated("é", 100'000);
  const std::string long_dim = InputX(Field(1, Field(2, letters))), many_dims = InputX(Repeated(Field(1, ""), 100'000));
  const std::string weight = Field(5, Repeated(std::string("\x08\x07", 2), 100'000) + Field(8, "w"));
  const std::string nodes = Repeated(Node(Field(1, "x") + Repeated(Field(1, "w"), 40)), 1000);
  for (const std::string& input : {long_dim, many_dims}) {
    const auto graph = ReadOnnxGraph(Model(input + weight + nodes + Field(12, Field(1, letters))));
    ASSERT_TRUE(graph) << graph.error();
    EXPECT_EQ(graph->edges.size(), 1000);
    for (const auto& edge : graph->edges) EXPECT_LT(edge.label.size(), 300);
    for (const auto& node : graph->nodes) EXPECT_LT(node.label.size() + node.name.size(), 6000);
    EXPECT_TRUE(graph->edges[0].label.ends_with("…")) << graph->edges[0].label;
    EXPECT_EQ(graph->nodes.back().name, Repeated("é", 128) + "…");
  }
}

TEST(OnnxGraphTest, GraphsThatAreTooLargeToDrawAreRefused) {
  const auto nodes = ReadOnnxGraph(Model(Repeated(Node(""), 20'001)));
  ASSERT_FALSE(nodes);
  EXPECT_EQ(nodes.error(), "too large to draw: 20001 nodes");
  const auto edges = ReadOnnxGraph(Model(Node(Repeated(Field(1, "y"), 100'001))));
  ASSERT_FALSE(edges);
  EXPECT_EQ(edges.error(), "too large to draw: 100001 edges");
  EXPECT_TRUE(ReadOnnxGraph(Model(Repeated(Node(""), 20'000))));
}

TEST(OnnxGraphTest, NamesStayInsideOfTheirStrings) {
  const ModelGraph graph{{{ModelGraph::Kind::kOperator, "a\"];b\\", "\x1b[31m"}}, {}};
  EXPECT_NE(ToDot(graph).find(R"(label="a\"];b\\", tooltip="\\x1b[31m")"), std::string::npos) << ToDot(graph);
}

}  // namespace
}  // namespace wasinn::cli
