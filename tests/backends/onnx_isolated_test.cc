// Models that harm the process in which ONNX Runtime loads or computes them: in workers.
#include "backends/isolated.h"
#include "backends/onnx_writer.h"
#include "backends/test_host.h"
#include "support/test.h"

namespace wasinn::test {
namespace {

constexpr int kInt8 = 3;
constexpr uint32_t kRuntimeError = 5, kTooLarge = 7;

Brought Of(const std::string& name, const std::string& bytes) {
  return {.name = name, .builders = {bytes}, .inputs = {Floats({1}, {1})}};
}

Workers OnnxRuntime() { return {Encoding::kOnnx, Of("honest", OneNode("Relu", {1}))}; }

struct GreatConstants {
  const char* name;
  std::vector<Proto> nodes;  // from constants to `c`
  std::vector<Proto> constants;
};

Proto Shape(const std::string& name, const std::vector<int64_t>& dims) {
  return Constant<int64_t>(name, kInt64, {static_cast<int64_t>(dims.size())}, dims);
}

// A few hundred bytes each that become a gigabyte and more.
std::vector<GreatConstants> HugeConstants() {
  constexpr int64_t kGibi = 1 << 30, kSide = 1 << 15;
  const Proto one = Constant<float>("one", kFloat, {1}, {1}), zeros = Shape("zeros", {0});
  const Proto scalar = Constant<int64_t>("nothing", kInt64, {}, {0}), step = Constant<int64_t>("step", kInt64, {}, {1});
  const Proto end = Constant<int64_t>("end", kInt64, {}, {kGibi});
  const Proto byte = TensorAttribute("value", Constant<char>("", kInt8, {1}, {1}));
  std::vector<GreatConstants> all = {
      {"ConstantOfShape", {Node("ConstantOfShape", {"shape"}, {"c"})}, {Shape("shape", {kGibi})}},
      {"Expand", {Node("Expand", {"one", "shape"}, {"c"})}, {one, Shape("shape", {kGibi})}},
      {"Tile", {Node("Tile", {"one", "shape"}, {"c"})}, {one, Shape("shape", {kGibi})}},
      {"Range", {Node("Range", {"nothing", "end", "step"}, {"c"})}, {scalar, end, step}},
      {"Pad", {Node("Pad", {"one", "shape"}, {"c"})}, {one, Shape("shape", {0, kGibi})}},
      {"Resize", {Node("Resize", {"one", "", "", "shape"}, {"c"})}, {one, Shape("shape", {kGibi})}},
      {"OneHot", {Node("OneHot", {"zeros", "end", "two"}, {"c"})}, {zeros, end, Shape("two", {0, 1})}},
      {"MatMul",
       {Node("ConstantOfShape", {"s1"}, {"a"}), Node("ConstantOfShape", {"s2"}, {"b"}),
        Node("MatMul", {"a", "b"}, {"c"})},
       {Shape("s1", {kSide, 1}), Shape("s2", {1, kSide})}},
      // The sizes of these are unknown beforehand.
      {"GreaterOrEqual",
       {Node("ConstantOfShape", {"s1"}, {"a"}), Node("ConstantOfShape", {"s2"}, {"b"}),
        Node("GreaterOrEqual", {"a", "b"}, {"c"})},
       {Shape("s1", {kSide, 1}), Shape("s2", {1, kSide})}},
      {"Expand of NonZero",
       {Node("NonZero", {"one"}, {"n"}), Node("ReduceMax", {"n"}, {"greatest"}).Add(5, IntAttribute("keepdims", 0)),
        Node("Add", {"greatest", "shape"}, {"s"}), Node("Expand", {"one", "s"}, {"c"})},
       {one, Shape("shape", {kGibi})}},
      // In vectors of its own.
      {"Unique",
       {Node("ConstantOfShape", {"shape"}, {"a"}).Add(5, byte), Node("Unique", {"a"}, {"c"})},
       {Shape("shape", {32 << 20})}},
      {"strings",
       {Node("Expand", {"text", "shape"}, {"t"}), Node("Unique", {"t"}, {"u", "c"})},
       {Proto().Int(1, 1).Int(2, 8).Text(6, std::string(1 << 20, 'x')).Text(8, "text"), Shape("shape", {40960})}},
  };
  GreatConstants doubles = {"Concat", {}, {one}};
  for (int i = 0; i < 40; ++i) {
    const std::string last = i == 0 ? "one" : "d" + std::to_string(i);
    const std::string next = i == 39 ? "c" : "d" + std::to_string(i + 1);
    doubles.nodes.push_back(Node("Concat", {last, last}, {next}).Add(5, IntAttribute("axis", 0)));
  }
  all.push_back(doubles);
  return all;
}

// Loaded with what is constant left for computes, which have not enough either.
TEST(OnnxIsolated, ConstantsThatBecomeHuge) {
  Workers workers = OnnxRuntime();
  for (const GreatConstants& constants : HugeConstants()) {
    const Brought model = Of(constants.name, AddsGreatest(constants.nodes, constants.constants).bytes());
    const uint32_t error = workers.TryBesideHonest(model, Workers::Time::kAll);
    EXPECT_TRUE(error == kTooLarge || error == kRuntimeError) << constants.name << ": " << error;
  }
  EXPECT_EQ(workers.lost(), 0u) << workers.log();
}

Proto Call(const std::string& name) { return Node(name, {"a"}, {"b"}).Text(7, "local"); }

Proto Function(const std::string& name, const std::vector<Proto>& nodes) {
  Proto function = Proto()
                       .Text(1, name)
                       .Text(4, "a")
                       .Text(5, "b")
                       .Text(10, "local")
                       .Add(9, Proto().Text(1, "").Int(2, 17))
                       .Add(9, Proto().Text(1, "local").Int(2, 1));
  for (const Proto& node : nodes) function.Add(7, node);
  return function;
}

// Each function calls the next one `calls` times; the last has one operator, or calls the first.
std::string Chain(int functions, int calls, bool circle = false) {
  Proto model = WriteModel(Graph{
      .nodes = {Node("f0", {"x"}, {"y"}).Text(7, "local")},
      .inputs = {Value("x", kFloat, {1})},
      .outputs = {Value("y", kFloat,
                        {1})}}.Write());
  model.Add(8, Proto().Text(1, "local").Int(2, 1));
  for (int i = 0; i < functions; ++i) {
    const bool last = i + 1 == functions;
    const Proto end = circle ? Call("f0") : Node("Relu", {"a"}, {"b"});
    model.Add(25, Function("f" + std::to_string(i),
                           std::vector<Proto>(last ? 1 : calls, last ? end : Call("f" + std::to_string(i + 1)))));
  }
  return model.bytes();
}

std::string Nested(int depth) {
  Proto graph;
  for (int i = 0; i < depth; ++i) graph = Proto().Add(1, Node("If", {}, {}).Add(5, GraphAttribute("a", graph)));
  return WriteModel(graph).bytes();
}

TEST(OnnxIsolated, AModelThatIsTooNewHasAnErrorThatSaysSo) {
  Workers workers = OnnxRuntime();
  const Graph graph = {
      .nodes = {Node("Relu", {"x"}, {"y"})}, .inputs = {Value("x", kFloat, {1})}, .outputs = {Value("y", kFloat, {1})}};
  for (const auto& [number, model] :
       {std::pair("999", WriteModel(graph.Write()).Int(1, 999)), {"998", WriteModel(graph.Write(), 998)}}) {
    EXPECT_NE(workers.Try(Of(number, model.bytes())), 0u);
    EXPECT_THAT(workers.log(), AllOf(HasSubstr(number), HasSubstr("export the model again with an older opset")));
  }
}

// Only hands its inputs on.
std::string EmptyLoop() {
  const std::vector<Proto> inputs = {Value("i", kInt64, {}), Value("go", kBool, {}), Value("v", kFloat, {1})};
  return EndlessLoop({.inputs = inputs, .outputs = {inputs[1], inputs[2]}});
}

TEST(OnnxIsolated, ModelsThatCrashedTheirProcess) {
  Workers workers = OnnxRuntime();
  const Proto sparse = Proto()
                           .Add(1, Constant<float>("w", kFloat, {1}, {1}))
                           .Add(2, Constant<int64_t>("", kInt64, {1}, {0}))
                           .Int(3, 1 << 20)
                           .Int(3, 1 << 20);
  Proto dense = Graph{.nodes = {Node("Add", {"x", "w"}, {"y"})},
                      .inputs = {Value("x", kFloat, {1})},
                      .outputs = {Value("y", TensorTypeOfAnyRank(kFloat))}}
                    .Write();
  dense.Add(15, sparse);
  for (const Brought& model : {
           Of("calls", Chain(40, 2)),
           Of("deep calls", Chain(100'000, 1)),
           Of("circle", Chain(3, 1, true)),
           Of("nested", Nested(5000)),
           Of("loop", EmptyLoop()),
           Of("sparse", WriteModel(dense).bytes()),
           Of("ort", std::string("\x18\0\0\0ORTM", 8) + std::string(1000, 'x')),
       }) {
    EXPECT_NE(workers.TryBesideHonest(model), 0u) << model.name;
  }
  EXPECT_GT(workers.lost(), 0u) << workers.log();
}

// Bytes of good models that are set to something else. Most are refused, some are other models.
TEST(OnnxIsolated, DamagedModels) {
  Workers workers = OnnxRuntime();
  for (const char* name : {"mean.onnx", "endless.onnx", "optional_input.onnx"}) {
    workers.TryDamaged(40, {.name = name, .builders = {ModelBytes(name)}, .inputs = {}},  // some would compute for ever
                       [](char /*byte*/, uint32_t random) { return "\0\x7f\xff"[random % 3]; });
  }
}

}  // namespace
}  // namespace wasinn::test
