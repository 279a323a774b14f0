// A model's constants are computed when it is loaded, with the same result for a guest's bytes as for a file of the
// host.
#include "backends/expect.h"
#include "backends/onnx_writer.h"

namespace wasinn::test {
namespace {

struct Constants {
  const char* name;
  std::vector<Proto> nodes;  // from constants to `c`
  std::vector<Proto> constants;
  std::vector<Proto> functions;
  bool folds = true;  // ONNX Runtime does not take every operator to give the same each time
};

std::string FoldedModel(const Constants& constants) {
  Proto model = AddsGreatest(constants.nodes, constants.constants);
  for (const char* domain : {"local", "ai.onnx.ml"}) model.Add(8, Proto().Text(1, domain).Int(2, 1));
  for (const Proto& function : constants.functions) model.Add(25, function);
  return model.bytes();
}

std::vector<float> Counted(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 1000) - 500;
  return values;
}

// With what kept guests' models from it once: operators whose output's size is unknown before they run,
// functions, constants that are larger than an even share of the limit.
std::vector<Constants> HonestConstants() {
  const Proto values = Constant<float>("w", kFloat, {4096}, Counted(4096));
  const Proto square = Constant<float>("w", kFloat, {1024, 1024}, Counted(1 << 20));
  const Graph branch{.nodes = {Node("Exp", {"w"}, {"e"})}, .outputs = {Value("e", kFloat, {4096})}};
  const Proto chosen = Node("If", {"which"}, {"c"})
                           .Add(5, GraphAttribute("then_branch", branch.Write()))
                           .Add(5, GraphAttribute("else_branch", branch.Write()));
  const Proto function = Function("local", "F", "a", "b", Node("Exp", {"a"}, {"b"}));
  std::vector<Constants> all = {
      {"NonZero", {Node("NonZero", {"w"}, {"c"})}, {values}, {}, false},
      {"Unique", {Node("Unique", {"w"}, {"c"})}, {values}},
      {"GreaterOrEqual", {Node("GreaterOrEqual", {"w", "w"}, {"c"})}, {values}},
      {"Normalizer", {Node("Normalizer", {"w"}, {"c"}).Text(7, "ai.onnx.ml")}, {values}, {}, false},
      {"function", {Node("F", {"w"}, {"c"}).Text(7, "local")}, {values}, {function}},
      {"branch", {chosen}, {values, Constant<char>("which", kBool, {}, {1})}},
      {"large", {Node("Transpose", {"w"}, {"t"}), Node("MatMul", {"t", "w"}, {"c"})}, {square}},
  };
  // A model of many nodes.
  for (int i = 0; i < 500; ++i) {
    all.back().nodes.push_back(Node("Neg", {i == 0 ? "x" : "n" + std::to_string(i - 1)}, {"n" + std::to_string(i)}));
  }
  return all;
}

TEST(OnnxFolding, BytesGiveWhatAFileGives) {
  const Host host;
  for (const Constants& constants : HonestConstants()) {
    SCOPED_TRACE(constants.name);
    LoadOptions named, given;
    named.path = "/a/file/of/the/host.onnx";
    given.max_bytes = 64 * kMebi;
    std::vector<std::string> outputs;
    for (const LoadOptions& options : {named, given}) {
      const LoadedModel model(host, FoldedModel(constants), options);
      outputs.push_back(Compute(model, {Floats({1}, {5})}).bytes);
      // Room for sums of one element: enough if what is constant is there already.
      Context small(model, 1024);
      ASSERT_TRUE(small.Set(0, Floats({1}, {5})));
      EXPECT_EQ(static_cast<bool>(small.Compute()), constants.folds);
    }
    EXPECT_EQ(outputs[0], outputs[1]);
  }
}

}  // namespace
}  // namespace wasinn::test
