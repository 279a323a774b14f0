// Inferences, and what is said of their tensors.
#include "backends/expect.h"
#include "backends/onnx_writer.h"
#include "check/borrowed.h"

namespace wasinn::test {
namespace {

Tensor Longs(const std::vector<int64_t>& values) {
  return MakeTensor(WASINN_DTYPE_I64, {static_cast<int64_t>(values.size())}, values);
}

class OnnxElementTypes : public ::testing::TestWithParam<ElementType> {};

TEST_P(OnnxElementTypes, GoInAndOutAsTheyAre) {
  const Host host;
  const Tensor in = EveryBit(GetParam());
  ExpectIdentity({host, ModelBytes(std::string("identity_") + GetParam().name + ".onnx")}, in, in.dims);
}

INSTANTIATE_TEST_SUITE_P(All, OnnxElementTypes, ::testing::ValuesIn(kElementTypes),
                         [](const auto& type) { return std::string(type.param.name); });

TEST(OnnxCompute, ServesScalarsAndEmptyTensors) {
  const Host host;
  for (const auto& [name, in] : {std::pair<const char*, Tensor>("identity_scalar.onnx", Floats({}, {3.5f})),
                                 {"identity_empty.onnx", Floats({0, 3}, {})}}) {
    ExpectIdentity({host, ModelBytes(name)}, in, in.dims);
  }
}

TEST(OnnxCompute, ShowsOutputsWhoseShapeTheDataDecide) {
  auto&& [host, model, context] = Opened(ModelBytes("nonzero.onnx"));
  ExpectPlacesOfNonzeros(&context);
}

TEST(OnnxCompute, TakesDefaultsForOptionalInputs) {
  auto&& [host, model, context] = Opened(ModelBytes("optional_input.onnx"));
  EXPECT_THAT(Compute(&context, {Floats({2}, {1, 2})}).As<float>(), ElementsAre(11, 22));
  EXPECT_THAT(Compute(&context, {Floats({2}, {1, 2}), Floats({2}, {100, 200})}).As<float>(), ElementsAre(101, 202));
  const Borrowed other(Floats({2}, {50, 50}));
  ASSERT_TRUE(context.Bind(1, other.view()));
  MustCompute(&context);
  context.Unbind(1);
  EXPECT_THAT(Compute(&context, {}).As<float>(), ElementsAre(11, 22)) << "it is unset";
}

// Outputs that no node of the optimized model writes.
TEST(OnnxCompute, ServesOutputsThatAreConstants) {
  const Host host;
  const Graph body = {.nodes = {Node("Identity", {"go"}, {"go_out"}), Node("Neg", {"v"}, {"v_out"})},
                      .inputs = {Value("i", kInt64, {}), Value("go", kBool, {}), Value("v", kFloat, {2})},
                      .outputs = {Value("go_out", kBool, {}), Value("v_out", kFloat, {2})}};
  const Graph graph = {
      .nodes = {Node("Identity", {"w"}, {"same"}), Node("Neg", {"w"}, {"folded"}),
                Node("Loop", {"zero", "", "x"}, {"looped"}).Add(5, GraphAttribute("body", body.Write())),
                Node("Reshape", {"x", "shape"}, {"reshaped"})},
      .constants = {Constant<float>("w", kFloat, {2}, {5, 6}), Constant<int64_t>("zero", kInt64, {}, {0}),
                    Constant<int64_t>("shape", kInt64, {1}, {2})},
      .inputs = {Value("x", kFloat, {2})},
      .outputs = {Value("w", kFloat, {2}), Value("same", kFloat, {2}), Value("folded", kFloat, {2}),
                  Value("looped", kFloat, {2}), Value("reshaped", kFloat, {2})}};
  const LoadedModel model(host, ModelOf(graph));
  Context context(model);
  for (const float x : {1.0f, 2.0f}) {
    Compute(&context, {Floats({2}, {x, x})});
    ASSERT_TRUE(context.Set(0, Floats({2}, {9, 9})));
    const std::vector<std::vector<float>> expected = {{5, 6}, {5, 6}, {-5, -6}, {x, x}, {x, x}};
    for (uint32_t i = 0; i < expected.size(); ++i) EXPECT_EQ(MustGet(&context, i).As<float>(), expected[i]) << i;
  }
}

// Exported models often say [1, N] of an output whose batch was made dynamic later. ONNX Runtime only warns of it.
TEST(OnnxCompute, ServesModelsThatSayAWrongShape) {
  const Host host;
  const Graph graph = {.nodes = {Node("NonZero", {"x"}, {"i"}), Node("Identity", {"i"}, {"y"})},
                       .inputs = {Value("x", kFloat, {kUnknown})},
                       .outputs = {Value("y", kInt64, {1, 2})}};
  const LoadedModel model(host, ModelOf(graph));
  Context context(model);
  EXPECT_THAT(Compute(&context, {Floats({3}, {1, 0, 1})}).As<int64_t>(), ElementsAre(0, 2));
  EXPECT_THAT(Compute(&context, {Floats({3}, {1, 1, 1})}).dims, ElementsAre(1, 3));
  EXPECT_THAT(Compute(&context, {Floats({3}, {0, 0, 1})}).dims, ElementsAre(1, 1));
}

TEST(OnnxCompute, RefusesWhatIsNoTensorOfNumbers) {
  auto&& [host, model, context] = Opened(ModelBytes("sequence_output.onnx"));
  ASSERT_TRUE(context.Set(0, Floats({2, 3}, {1, 2, 3, 4, 5, 6})));
  MustCompute(&context);
  Tensor tensor;
  const Result got = context.Get(0, &tensor);
  EXPECT_EQ(got.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(got.message, HasSubstr("seq(tensor(float))"));
}

TEST(OnnxCompute, KeepsWorkingAfterAnError) {
  const Host host;
  const Graph graph = {.nodes = {Node("Gather", {"table", "i"}, {"y"})},
                       .constants = {Constant<float>("table", kFloat, {3}, {10, 20, 30})},
                       .inputs = {Value("i", kInt64, {1})},
                       .outputs = {Value("y", kFloat, {1})}};
  const LoadedModel model(host, ModelOf(graph));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Longs({99})));
  const Result failed = context.Compute();
  EXPECT_EQ(failed.code, WASINN_ERROR_RUNTIME);
  EXPECT_THAT(failed.message, HasSubstr("out of data bounds"));
  EXPECT_THAT(Compute(&context, {Longs({2})}).As<float>(), ElementsAre(30));
}

TEST(OnnxCompute, RefusesABufferOfAnotherSizeOrType) {
  auto&& [host, model, context] = Opened(ModelBytes("dynamic.onnx"));
  const Tensor good = Floats({2, 2}, {1, 2, 3, 4});
  Tensor small = good, large = good, other = good;
  small.bytes.resize(15);
  large.dims = {int64_t{1} << 62, int64_t{1} << 62};
  other.dtype = WASINN_DTYPE_I32;
  for (const Tensor& wrong : {small, large, other}) {
    EXPECT_EQ(context.Set(0, wrong).code, WASINN_ERROR_INVALID_ARGUMENT);
    const Borrowed lent(wrong);
    EXPECT_EQ(context.Bind(0, lent.view()).code, WASINN_ERROR_INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace wasinn::test
