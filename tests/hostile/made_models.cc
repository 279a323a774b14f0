#include "hostile/made_models.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "backends/onnx_writer.h"

namespace wasinn::testing {
namespace {

using test::Constant;
using test::Graph;
using test::GraphAttribute;
using test::IntAttribute;
using test::kBool;
using test::kFloat;
using test::kInt64;
using test::ModelOf;
using test::Node;
using test::Proto;
using test::TensorTypeOfAnyRank;
using test::Value;
using test::WriteModel;

constexpr int kInt32 = 6;

// The head of a field that holds `size` bytes.
std::string HeadOf(uint32_t field, size_t size) {
  std::string head(1, static_cast<char>(field << 3 | 2));
  for (; size >= 0x80; size >>= 7) head += static_cast<char>(size | 0x80);
  return head += static_cast<char>(size);
}

Proto Opset(const std::string& domain, uint64_t version) { return Proto().Text(1, domain).Int(2, version); }

// Not `"v" + std::to_string(n)`, about which gcc 12 has a warning that means nothing.
std::string Numbered(std::string_view letter, int number) {
  std::string name(letter);
  return name += std::to_string(number);
}

// x goes through `node` and becomes y; both f32 [1].
Graph Around(const Proto& node) {
  return {.nodes = {node}, .inputs = {Value("x", kFloat, {1})}, .outputs = {Value("y", kFloat, {1})}};
}

Graph FromNothing(std::vector<Proto> nodes, std::vector<Proto> constants, int type) {
  return {
      .nodes = std::move(nodes), .constants = std::move(constants), .outputs = {Value("y", TensorTypeOfAnyRank(type))}};
}

Proto Function(const std::string& name, const std::vector<Proto>& nodes) {
  Proto function = Proto().Text(1, name).Text(4, "a").Text(5, "b");
  for (const Proto& node : nodes) function.Add(7, node);
  return function.Add(9, Opset("", 17)).Add(9, Opset("local", 1)).Text(10, "local");
}

Proto Call(const std::string& function, const std::string& from, const std::string& to) {
  return Node(function, {from}, {to}).Text(7, "local");
}

std::string WithFunctions(const std::string& called, const std::vector<Proto>& functions) {
  Proto model = WriteModel(Around(Call(called, "x", "y")).Write());
  model.Add(8, Opset("local", 1));
  for (const Proto& function : functions) model.Add(25, function);
  return model.bytes();
}

}  // namespace

std::string DeepSubgraphs(int levels) {
  // From the innermost outwards. What holds the next level is always the last field, so that only the heads of the
  // messages need to be made, each with the size of all that follows.
  std::vector<std::string> heads;
  size_t size = 0;
  const auto hold = [&](uint32_t field, const Proto& before) {
    heads.push_back(before.bytes() + HeadOf(field, size));
    size += heads.back().size();
  };
  const Proto innermost =
      Graph{.nodes = {Node("Identity", {"x"}, {"y0"})}, .outputs = {Value("y0", kFloat, {1})}}.Write();
  heads.push_back(innermost.bytes());
  size = innermost.bytes().size();
  // The other branch is short, lest the model double at each level.
  const Graph other{.nodes = {Node("Identity", {"x"}, {"z"})}, .outputs = {Value("z", kFloat, {1})}};
  const Proto short_branch = GraphAttribute("else_branch", other.Write());
  for (int level = 1; level <= levels; ++level) {
    const std::string y = Numbered("y", level);
    hold(6, Proto().Text(1, "then_branch").Int(20, 5));        // the attribute
    hold(5, Node("If", {"which"}, {y}).Add(5, short_branch));  // the node
    Graph around{.outputs = {Value(y, kFloat, {1})}};
    if (level == levels) around.inputs = {Value("x", kFloat, {1}), Value("which", kBool, {})};
    hold(1, around.Write());  // the graph
  }
  hold(7, Proto().Int(1, 8).Add(8, Opset("", 17)));
  std::string model;
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) model += *head;
  return model;
}

std::string DeepGroups(int levels) {
  std::string groups;
  for (int i = 0; i < levels; ++i) groups += "\xa3\x06";  // field 100, the start of a group
  for (int i = 0; i < levels; ++i) groups += "\xa4\x06";
  return ModelOf(Around(Node("Relu", {"x"}, {"y"}))) + groups;
}

std::string FunctionsOfFunctions(int n) {
  std::vector<Proto> functions = {Function("F0", {Node("Relu", {"a"}, {"b"})})};
  for (int i = 1; i <= n; ++i) {
    const std::string before = Numbered("F", i - 1);
    functions.push_back(Function(Numbered("F", i), {Call(before, "a", "c"), Call(before, "c", "b")}));
  }
  return WithFunctions(Numbered("F", n), functions);
}

std::string ManyInputs(int n) {
  Graph graph = Around(Node("Relu", {"x"}, {"y"}));
  for (int i = 0; i < n; ++i) graph.inputs.push_back(Value(Numbered("i", i), kFloat, {1}));
  return ModelOf(graph);
}

std::string ManyUnusedWeights(int n) {
  Graph graph = Around(Node("Relu", {"x"}, {"y"}));
  for (int i = 0; i < n; ++i) {
    graph.constants.push_back(Constant<float>(Numbered("w", i), kFloat, {1}, {1}));
  }
  return ModelOf(graph);
}

std::string ManyEmptyNames(int n) {
  Graph graph = Around(Node("Relu", {"x"}, {"y"}));
  Proto node;
  for (int i = 0; i < n; ++i) node.Text(1, "");
  graph.nodes.push_back(node.Text(4, "Sum"));
  return ModelOf(graph);
}

std::string LongChain(int n) {
  Graph graph = {.inputs = {Value("x", kFloat, {1})}, .outputs = {Value(Numbered("v", n), kFloat, {1})}};
  for (int i = 1; i <= n; ++i) {
    graph.nodes.push_back(Node("Erf", {i == 1 ? "x" : Numbered("v", i - 1)}, {Numbered("v", i)}));
  }
  return ModelOf(graph);
}

std::string InputOfRank(int rank) {
  const std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  return ModelOf({.nodes = {Node("Relu", {"x"}, {"y"})},
                  .inputs = {Value("x", kFloat, dims)},
                  .outputs = {Value("y", kFloat, dims)}});
}

std::string InputOfDim(int64_t dim) {
  const auto value = [dim](const std::string& name) {
    const Proto shape = Proto().Add(1, Proto().Int(1, static_cast<uint64_t>(dim)));
    return Value(name, Proto().Add(1, Proto().Int(1, kFloat).Add(2, shape)));
  };
  return ModelOf({.nodes = {Node("Relu", {"x"}, {"y"})}, .inputs = {value("x")}, .outputs = {value("y")}});
}

std::string UntrueOutput() {
  return ModelOf({.nodes = {Node("ConstantOfShape", {"n"}, {"y"})},
                  .inputs = {Value("n", kInt64, {1})},
                  .outputs = {Value("y", kFloat, {1})}});
}

std::string NamesWithControlCharacters() {
  const std::string evil = "x\nwasinn: error: all is lost\r\x1b[2J\x07";
  return ModelOf({.nodes = {Node("No\nSuch\x1b[2JOperator", {evil}, {"y"})},
                  .inputs = {Value(evil, kFloat, {1})},
                  .outputs = {Value("y", kFloat, {1})}});
}

std::string OutputsOfOneName() {
  const Proto x = Value("x", kFloat, {1}), y = Value("y", kFloat, {1});
  return ModelOf({.nodes = {Node("Relu", {"x"}, {"y"})}, .inputs = {x}, .outputs = {x, x, x, y}});
}

std::string FoldsHuge(int64_t elements) {
  return ModelOf(FromNothing(
      {Node("ConstantOfShape", {"shape"}, {"c"}), Node("Erf", {"c"}, {"e"}), Node("ReduceMax", {"e"}, {"y"})},
      {Constant<int64_t>("shape", kInt64, {1}, {elements})}, kFloat));
}

std::string ComputesForLong(int times) {
  std::vector<Proto> nodes = {Node("ConstantOfShape", {"shape"}, {"m0"})};
  for (int i = 1; i <= times; ++i) {
    const std::string last = Numbered("m", i - 1);
    nodes.push_back(Node("MatMul", {last, last}, {Numbered("m", i)}));
  }
  nodes.push_back(Node("ReduceMax", {Numbered("m", times)}, {"y"}));
  return ModelOf(FromNothing(nodes, {Constant<int64_t>("shape", kInt64, {2}, {1024, 1024})}, kFloat));
}

std::string Doubles(int times, bool constant) {
  std::vector<Proto> nodes;
  for (int i = 1; i <= times; ++i) {
    const std::string last = Numbered("v", i - 1);
    nodes.push_back(Node("Concat", {last, last}, {Numbered("v", i)}).Add(5, IntAttribute("axis", 0)));
  }
  nodes.push_back(Node("ReduceMax", {Numbered("v", times)}, {"y"}));
  if (constant) return ModelOf(FromNothing(nodes, {Constant<float>("v0", kFloat, {1}, {1})}, kFloat));
  // Something that is known at run time only.
  nodes.insert(nodes.begin(), Node("RandomUniform", {}, {"v0"}).Add(5, Proto().Text(1, "shape").Int(8, 1).Int(20, 7)));
  return ModelOf(FromNothing(nodes, {}, kFloat));
}

std::string Divides(const std::string& op, bool by_zero) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  // Behind an If, whose branches nothing computes at load.
  const Graph branch{.nodes = {Node(op, {"a", "b"}, {"c"})},
                     .constants = {Constant<int32_t>("a", kInt32, {2}, {least, least}),
                                   Constant<int32_t>("b", kInt32, {2}, {by_zero ? 0 : -1, by_zero ? 0 : -1})},
                     .outputs = {Value("c", kInt32, {2})}};
  const Proto choose = Node("If", {"which"}, {"y"})
                           .Add(5, GraphAttribute("then_branch", branch.Write()))
                           .Add(5, GraphAttribute("else_branch", branch.Write()));
  const Proto random = Node("RandomUniform", {}, {"r"}).Add(5, Proto().Text(1, "shape").Int(8, 1).Int(20, 7));
  const Proto compare = Node("Less", {"r", "two"}, {"which"});
  return ModelOf(FromNothing({random, compare, choose}, {Constant<float>("two", kFloat, {}, {2})}, kInt32));
}

}  // namespace wasinn::testing
