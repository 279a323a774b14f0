// Inferences, against ONNX Runtime called natively.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/expect.h"
#include "backends/native.h"
#include "backends/onnx_writer.h"
#include "backends/test_host.h"

namespace wasinn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OnnxElementTypes : public ::testing::TestWithParam<ElementType> {};

TEST_P(OnnxElementTypes, GoInAndOutAsTheyAre) {
  const std::string bytes = ModelBytes(std::string("identity_") + GetParam().name + ".onnx");
  const Tensor in = EveryBit(GetParam());
  const Host host;
  ExpectIdentity(Model(host, bytes), in, in.dims, NativeOrt().Run(bytes, {in}).at(0).bytes);
}

INSTANTIATE_TEST_SUITE_P(All, OnnxElementTypes, ::testing::ValuesIn(kElementTypes),
                         [](const auto& type) { return std::string(type.param.name); });

TEST(OnnxCompute, ServesScalarsAndEmptyTensors) {
  const Host host;
  const Model scalar(host, ModelBytes("identity_scalar.onnx"));
  Context one(scalar);
  ASSERT_TRUE(one.Set(0, Floats({}, {3.5f})));
  ASSERT_TRUE(one.Compute());
  EXPECT_TRUE(MustGet(&one, 0).dims.empty());
  EXPECT_THAT(MustGet(&one, 0).As<float>(), ElementsAre(3.5f));

  const Model empty(host, ModelBytes("identity_empty.onnx"));
  Context none(empty);
  ASSERT_TRUE(none.Set(0, Floats({0, 3}, {})));
  const Result computed = none.Compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_THAT(MustGet(&none, 0).dims, ElementsAre(0, 3));
  EXPECT_TRUE(MustGet(&none, 0).bytes.empty());
}

TEST(OnnxCompute, ShowsOutputsWhoseShapeTheDataDecide) {
  const Host host;
  const Model model(host, ModelBytes("nonzero.onnx"));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2, 3}, {0, 1, 0, 0, 2, 3})));
  ASSERT_TRUE(context.Compute());
  EXPECT_THAT(MustGet(&context, 0).dims, ElementsAre(2, 3));
  EXPECT_THAT(MustGet(&context, 0).As<int64_t>(), ElementsAre(0, 1, 1, 1, 1, 2));
  ASSERT_TRUE(context.Set(0, Floats({2, 3}, {0, 0, 0, 0, 0, 0})));
  ASSERT_TRUE(context.Compute());
  EXPECT_THAT(MustGet(&context, 0).dims, ElementsAre(2, 0));
  EXPECT_TRUE(MustGet(&context, 0).bytes.empty());
  ASSERT_TRUE(context.Set(0, Floats({2, 3}, {7, 0, 0, 0, 0, 0})));
  ASSERT_TRUE(context.Compute());
  EXPECT_THAT(MustGet(&context, 0).As<int64_t>(), ElementsAre(0, 0));
}

TEST(OnnxCompute, TakesDefaultsForOptionalInputs) {
  const Host host;
  const Model model(host, ModelBytes("optional_input.onnx"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(11, 22));
  ASSERT_TRUE(context.Set(1, Floats({2}, {100, 200})));
  ASSERT_TRUE(context.Compute());
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(101, 202));
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
  const Model model(host, ModelOf(graph));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  for (const float x : {1.0f, 2.0f}) {
    ASSERT_TRUE(context.Set(0, Floats({2}, {x, x})));
    const Result computed = context.Compute();
    ASSERT_TRUE(computed) << computed.message;
    ASSERT_TRUE(context.Set(0, Floats({2}, {9, 9})));
    EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(5, 6));
    EXPECT_THAT(MustGet(&context, 1).As<float>(), ElementsAre(5, 6));
    EXPECT_THAT(MustGet(&context, 2).As<float>(), ElementsAre(-5, -6));
    EXPECT_THAT(MustGet(&context, 3).As<float>(), ElementsAre(x, x));
    EXPECT_THAT(MustGet(&context, 4).As<float>(), ElementsAre(x, x));
  }
}

// Exported models often say [1, N] of an output where the batch was made dynamic later. ONNX Runtime only warns of it.
TEST(OnnxCompute, ServesModelsThatSayAWrongShape) {
  const Host host;
  const Graph graph = {.nodes = {Node("NonZero", {"x"}, {"i"}), Node("Identity", {"i"}, {"y"})},
                       .inputs = {Value("x", kFloat, {kUnknown})},
                       .outputs = {Value("y", kInt64, {1, 2})}};
  const Model model(host, ModelOf(graph));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({3}, {1, 0, 1})));
  ASSERT_TRUE(context.Compute());
  EXPECT_THAT(MustGet(&context, 0).As<int64_t>(), ElementsAre(0, 2));
  for (const auto& values : {std::vector<float>{1, 1, 1}, {0, 0, 1}}) {
    ASSERT_TRUE(context.Set(0, Floats({3}, values)));
    const Result computed = context.Compute();
    ASSERT_TRUE(computed) << computed.message;
    EXPECT_EQ(MustGet(&context, 0).dims.at(1), static_cast<int64_t>(values[0] == 1 ? 3 : 1));
  }
}

TEST(OnnxCompute, RefusesWhatIsNoTensorOfNumbers) {
  const Host host;
  const Model model(host, ModelBytes("sequence_output.onnx"));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2, 3}, {1, 2, 3, 4, 5, 6})));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  Tensor tensor;
  const Result got = context.Get(0, &tensor);
  EXPECT_EQ(got.code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(got.message, HasSubstr("seq(tensor(float))"));
}

TEST(OnnxCompute, KeepsWorkingAfterAnError) {
  const Host host;
  const Graph graph = {.nodes = {Node("Gather", {"table", "i"}, {"y"})},
                       .constants = {Constant<float>("table", kFloat, {3}, {10, 20, 30})},
                       .inputs = {Value("i", kInt64, {1})},
                       .outputs = {Value("y", kFloat, {1})}};
  const Model model(host, ModelOf(graph));
  Context context(model);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {1}, {99})));
  const Result failed = context.Compute();
  EXPECT_EQ(failed.code, WASINN_RUNTIME_ERROR);
  EXPECT_THAT(failed.message, HasSubstr("out of data bounds"));
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {1}, {2})));
  ASSERT_TRUE(context.Compute());
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(30));
}

TEST(OnnxCompute, RefusesABufferOfAnotherSize) {
  const Host host;
  const Model model(host, ModelBytes("dynamic.onnx"));
  Context context(model);
  Tensor tensor = Floats({2, 2}, {1, 2, 3, 4});
  tensor.bytes.resize(15);
  EXPECT_EQ(context.Set(0, tensor).code, WASINN_INVALID_ARGUMENT);
  tensor.dims = {int64_t{1} << 62, int64_t{1} << 62};
  EXPECT_EQ(context.Set(0, tensor).code, WASINN_INVALID_ARGUMENT);
  EXPECT_EQ(context.Set(1, tensor).code, WASINN_INVALID_ARGUMENT);
  tensor = Floats({2, 2}, {1, 2, 3, 4});
  tensor.dtype = WASINN_I32;
  EXPECT_EQ(context.Set(0, tensor).code, WASINN_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace wasinn::test
