// What is constant in a model is computed when it is loaded, with the same result for a guest's bytes as for a file of
// the host.
#include <gtest/gtest.h>

#include "backends/onnx_writer.h"
#include "backends/test_host.h"

namespace wasinn::test {
namespace {

struct Constants {
  const char* name;
  std::vector<Proto> nodes;  // from constants to `c`
  std::vector<Proto> constants;
  std::vector<Proto> functions;
  bool folds = true;  // ONNX Runtime does not take every operator to give the same each time
};

// y = x + the greatest element of c
std::string FoldedModel(const Constants& constants) {
  Graph graph = {.nodes = constants.nodes,
                 .constants = constants.constants,
                 .inputs = {Value("x", kFloat, {1})},
                 .outputs = {Value("y", TensorTypeOfAnyRank(kFloat))}};
  graph.nodes.push_back(Node("Cast", {"c"}, {"f"}).Add(5, IntAttribute("to", kFloat)));
  graph.nodes.push_back(Node("ReduceMax", {"f"}, {"m"}).Add(5, IntAttribute("keepdims", 0)));
  graph.nodes.push_back(Node("Add", {"x", "m"}, {"y"}));
  Proto model = WriteModel(graph.Write());
  for (const char* domain : {"local", "ai.onnx.ml"}) model.Add(8, Proto().Text(1, domain).Int(2, 1));
  for (const Proto& function : constants.functions) model.Add(25, function);
  return model.bytes();
}

std::vector<float> Counted(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 1000) - 500;
  return values;
}

// With what kept guests' models from it once: operators that do not tell the size of their output before they run,
// functions, constants that are larger than an even share of the limit.
std::vector<Constants> HonestConstants() {
  const Proto values = Constant<float>("w", kFloat, {4096}, Counted(4096));
  const Proto square = Constant<float>("w", kFloat, {1024, 1024}, Counted(1 << 20));
  const Graph branch{.nodes = {Node("Exp", {"w"}, {"e"})}, .outputs = {Value("e", kFloat, {4096})}};
  const Proto chosen = Node("If", {"which"}, {"c"})
                           .Add(5, GraphAttribute("then_branch", branch.Write()))
                           .Add(5, GraphAttribute("else_branch", branch.Write()));
  const Proto function = Proto()
                             .Text(1, "F")
                             .Text(4, "a")
                             .Text(5, "b")
                             .Add(7, Node("Exp", {"a"}, {"b"}))
                             .Add(9, Proto().Text(1, "").Int(2, 17))
                             .Text(10, "local");
  std::vector<Constants> all = {
      {"NonZero", {Node("NonZero", {"w"}, {"c"})}, {values}, {}, false},
      {"Unique", {Node("Unique", {"w"}, {"c"})}, {values}},
      {"GreaterOrEqual", {Node("GreaterOrEqual", {"w", "w"}, {"c"})}, {values}},
      {"Normalizer", {Node("Normalizer", {"w"}, {"c"}).Text(7, "ai.onnx.ml")}, {values}, {}, false},
      {"function", {Node("F", {"w"}, {"c"}).Text(7, "local")}, {values}, {function}},
      {"branch", {chosen}, {values, Constant<char>("which", kBool, {}, {1})}},
      {"large", {Node("Transpose", {"w"}, {"t"}), Node("MatMul", {"t", "w"}, {"c"})}, {square}},
  };
  // Of many nodes.
  for (int i = 0; i < 500; ++i) {
    all.back().nodes.push_back(Node("Neg", {i == 0 ? "x" : "n" + std::to_string(i - 1)}, {"n" + std::to_string(i)}));
  }
  return all;
}

TEST(OnnxFolding, BytesGiveWhatAFileGives) {
  const Host host;
  for (const Constants& constants : HonestConstants()) {
    LoadOptions options;
    options.path = "/a/file/of/the/host.onnx";
    const std::string bytes = FoldedModel(constants);
    const Model named(host, bytes, options);
    options.path.clear();
    options.max_bytes = 64 * kMebi;
    const Model given(host, bytes, options);
    std::string outputs[2];
    bool folded[2] = {};
    for (const Model* model : {&named, &given}) {
      ASSERT_TRUE(model->loaded()) << constants.name << ": " << model->loaded().message;
      Context context(*model);
      ASSERT_TRUE(context.Set(0, Floats({1}, {5})));
      ASSERT_TRUE(context.Compute());
      Tensor output;
      ASSERT_TRUE(context.Get(0, &output));
      outputs[model == &given ? 1 : 0] = output.bytes;
      // Room for sums of one element: enough if what is constant is there already.
      Context small(*model, 1024);
      ASSERT_TRUE(small.Set(0, Floats({1}, {5})));
      folded[model == &given ? 1 : 0] = static_cast<bool>(small.Compute());
    }
    EXPECT_EQ(outputs[0], outputs[1]) << constants.name;
    EXPECT_EQ(folded[0], folded[1]) << constants.name;
    EXPECT_EQ(folded[0], constants.folds) << constants.name;
  }
}

}  // namespace
}  // namespace wasinn::test
