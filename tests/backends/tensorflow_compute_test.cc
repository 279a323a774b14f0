// Inferences, against TensorFlow called natively.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/expect.h"
#include "backends/tensorflow_native.h"
#include "backends/tensorflow_writer.h"
#include "backends/test_host.h"

namespace wasinn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LoadOptions Frozen() { return {.encoding = "tensorflow"}; }

// By name: the host's own.
LoadOptions Saved(const std::string& name, const std::string& config = "{}") {
  return {.encoding = "tensorflow", .path = ModelPath(name + "/saved_model.pb"), .host_config = config};
}

class TensorFlowElementTypes : public ::testing::TestWithParam<ElementType> {};

TEST_P(TensorFlowElementTypes, GoInAndOutAsTheyAre) {
  const std::string bytes = ModelBytes(std::string("identity_") + GetParam().name + ".pb");
  const Tensor in = EveryBit(GetParam());
  const Host host;
  ExpectIdentity(Model(host, bytes, Frozen()), in, in.dims, RunNativeGraph(bytes, {{"x", in}}, {"y"}).at(0).bytes);
}

INSTANTIATE_TEST_SUITE_P(All, TensorFlowElementTypes, ::testing::ValuesIn(kElementTypes),
                         [](const auto& type) { return std::string(type.param.name); });

TEST(TensorFlowCompute, ServesScalarsAndEmptyTensors) {
  const Host host;
  const Model scalar(host, ModelBytes("identity_scalar.pb"), Frozen());
  Context one(scalar);
  ASSERT_TRUE(one.Set(0, Floats({}, {3.5f})));
  MustCompute(&one);
  EXPECT_TRUE(MustGet(&one, 0).dims.empty());
  EXPECT_THAT(MustGet(&one, 0).As<float>(), ElementsAre(3.5f));

  const Model empty(host, ModelBytes("identity_empty.pb"), Frozen());
  Context none(empty);
  ASSERT_TRUE(none.Set(0, Floats({0, 3}, {})));
  MustCompute(&none);
  EXPECT_THAT(MustGet(&none, 0).dims, ElementsAre(0, 3));
  EXPECT_TRUE(MustGet(&none, 0).bytes.empty());
}

TEST(TensorFlowCompute, TakesAnyRank) {
  const Host host;
  const Model unknown(host, ModelBytes("unknown_rank.pb"), Frozen());
  EXPECT_EQ(unknown.input(0).rank, -1);
  Context any(unknown);
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {1}, {1, 1, 1}}) {
    ASSERT_TRUE(any.Set(0, Floats(dims, {2})));
    MustCompute(&any);
    EXPECT_EQ(MustGet(&any, 0).dims, dims);
    EXPECT_THAT(MustGet(&any, 0).As<float>(), ElementsAre(-2));
  }
}

TEST(TensorFlowCompute, ShowsOutputsWhoseShapeTheDataDecide) {
  const Host host;
  const Model model(host, ModelBytes("nonzero.pb"), Frozen());
  EXPECT_EQ(model.output(0).rank, 2);
  EXPECT_THAT(std::vector(model.output(0).dims, model.output(0).dims + 2), ElementsAre(-1, 2));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2, 3}, {0, 1, 0, 0, 2, 3})));
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context, 0).dims, ElementsAre(3, 2));
  EXPECT_THAT(MustGet(&context, 0).As<int64_t>(), ElementsAre(0, 1, 1, 1, 1, 2));
  ASSERT_TRUE(context.Set(0, Floats({2, 3}, {0, 0, 0, 0, 0, 0})));
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context, 0).dims, ElementsAre(0, 2));
}

TEST(TensorFlowCompute, TakesDefaultsForOptionalInputs) {
  const Host host;
  const Model model(host, ModelBytes("optional_input.pb"), Frozen());
  ASSERT_EQ(model.info().n_inputs, 2u);
  EXPECT_STREQ(model.input(0).name, "offset");
  EXPECT_EQ(model.input(0).flags, static_cast<uint32_t>(WASINN_IO_OPTIONAL));
  EXPECT_EQ(model.input(1).flags, 0u);
  Context context(model);
  ASSERT_TRUE(context.Set(1, Floats({2}, {1, 2})));
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(11, 22));
  ASSERT_TRUE(context.Set(0, Floats({2}, {100, 200})));
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(101, 202));
}

struct Typical {
  const char* name;
  std::vector<int64_t> dims;
  std::vector<std::string> outputs;
};

class TensorFlowTypical : public ::testing::TestWithParam<Typical> {};

TEST_P(TensorFlowTypical, GivesTheBytesOfTensorFlowItself) {
  const Typical& typical = GetParam();
  size_t n = 1;
  for (const int64_t dim : typical.dims) n *= static_cast<size_t>(dim);
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i) * 0.75f - 3;
  const Tensor in = Floats(typical.dims, values);
  const std::string bytes = ModelBytes(std::string(typical.name) + ".pb");
  const Host host;
  const Model model(host, bytes, Frozen());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  ASSERT_EQ(model.info().n_outputs, typical.outputs.size());
  Context context(model);
  ASSERT_TRUE(context.Set(0, in));
  MustCompute(&context);
  const auto expected = RunNativeGraph(bytes, {{model.input(0).name, in}}, typical.outputs);
  for (uint32_t i = 0; i < typical.outputs.size(); ++i) {
    EXPECT_EQ(model.output(i).name, typical.outputs[i]);
    EXPECT_EQ(MustGet(&context, i).dims, expected[i].dims);
    EXPECT_EQ(MustGet(&context, i).bytes, expected[i].bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TensorFlowTypical,
                         ::testing::Values(Typical{"sum", {1, 5, 5, 1}, {"y"}}, Typical{"max", {1, 5, 5, 1}, {"y"}},
                                           Typical{"average", {1, 5, 5, 1}, {"y"}},
                                           Typical{"mult_dimension", {1, 3, 3, 1}, {"y"}},
                                           Typical{"mult_output", {1, 4, 4, 1}, {"average", "largest"}},
                                           Typical{"mean", {1, 3, 8, 8}, {"mean"}},
                                           Typical{"relu", {1, 3, 224, 224}, {"y"}},
                                           Typical{"matmul", {64, 64}, {"y"}}),
                         [](const auto& typical) { return std::string(typical.param.name); });

TEST(TensorFlowCompute, OutputsThatAreInputsAreNotTheInputsMemory) {
  const Host host;
  const Model same(host, ModelBytes("two_tags/saved_model.pb"), Saved("two_tags"));
  ASSERT_TRUE(same.loaded()) << same.loaded().message;
  EXPECT_STREQ(same.output(1).name, "same");
  Context passed(same);
  ASSERT_TRUE(passed.Set(0, Floats({2}, {3, 4})));
  MustCompute(&passed);
  ASSERT_TRUE(passed.Set(0, Floats({2}, {0, 0})));
  EXPECT_THAT(MustGet(&passed, 1).As<float>(), ElementsAre(3, 4));
  // One tensor behind two names.
  EXPECT_THAT(MustGet(&passed, 0).As<float>(), ElementsAre(6, 8));
  EXPECT_THAT(MustGet(&passed, 2).As<float>(), ElementsAre(6, 8));
}

// What is not fetched is not computed: a node that fails does not fail the run.
TEST(TensorFlowCompute, WhatIsNotWantedIsNotComputed) {
  const Host host;
  const Model model(host, ModelBytes("huge_output.pb"),
                    {.encoding = "tensorflow", .host_config = R"({"outputs": ["shape", "y"]})"});
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {2}, {-1, 3})));
  EXPECT_EQ(context.Compute().code, WASINN_RUNTIME_ERROR);
  ASSERT_TRUE(context.Compute({0}));
  EXPECT_THAT(MustGet(&context, 0).As<int64_t>(), ElementsAre(-1, 3));
}

// A variable takes an input's memory as its value, and shows it in the next run.
TEST(TensorFlowState, NeverSeesMemoryThatWeWriteAgain) {
  const Host host;
  const Model model(host, ModelBytes("counter/saved_model.pb"), Saved("counter"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2}, {3, 4})));
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(0, 0));
  ASSERT_TRUE(context.Set(0, Floats({2}, {5, 6})));
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(3, 4));
}

// For that each compute has a copy of the inputs.
TEST(TensorFlowState, PaysForCopiesOfInputs) {
  const Host host;
  const Model model(host, ModelBytes("counter/saved_model.pb"), Saved("counter"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Account account;
  Context context(model, 0, "{}", &account);
  ASSERT_TRUE(context.Set(0, Floats({2}, {3, 4})));
  MustCompute(&context);
  const uint64_t between = account.used;
  EXPECT_GE(account.most, between + 8);
  account.limit = between + 7;
  EXPECT_EQ(context.Compute().code, WASINN_TOO_LARGE);
  EXPECT_EQ(account.used, between);
  account.limit = between + 8;
  MustCompute(&context);
}

// What one assigns, no other reads: neither beside it nor after it.
TEST(TensorFlowState, BelongsToOneContext) {
  const Host host;
  const Model model(host, ModelBytes("counter/saved_model.pb"), Saved("counter"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_THAT(host.table().describe(model.get()), HasSubstr(R"("stateful":true)"));
  const auto before = [](Context* context, const std::vector<float>& next) {
    EXPECT_TRUE(context->Set(0, Floats({2}, next)));
    MustCompute(context);
    return MustGet(context, 0).As<float>();
  };
  Context beside(model);
  {
    Context gone(model);
    EXPECT_THAT(before(&gone, {1, 2}), ElementsAre(0, 0));
    EXPECT_THAT(before(&beside, {3, 4}), ElementsAre(0, 0));
    EXPECT_THAT(before(&gone, {5, 6}), ElementsAre(1, 2));
  }
  Context after(model);
  EXPECT_THAT(before(&after, {7, 8}), ElementsAre(0, 0));
  EXPECT_THAT(before(&beside, {0, 0}), ElementsAre(3, 4));
}

// A session of its own is its guest's to pay.
TEST(TensorFlowState, IsCharged) {
  const Host host;
  const Model model(host, ModelBytes("counter/saved_model.pb"), Saved("counter"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Account account;
  {
    Context context(model, 0, "{}", &account);
    ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
    MustCompute(&context);
    EXPECT_GE(account.used, ModelBytes("counter/saved_model.pb").size());
    account.limit = account.used;
    Context one_more(model, 0, "{}", &account);
    ASSERT_TRUE(one_more.Set(0, Floats({2}, {1, 2})));
    const Result computed = one_more.Compute();
    EXPECT_EQ(computed.code, WASINN_TOO_LARGE) << computed.message;
  }
  EXPECT_EQ(account.used, 0u);
  // One that all share is the host's.
  const Model shared(host, ModelBytes("two_tags/saved_model.pb"), Saved("two_tags"));
  Context context(shared, 0, "{}", &account);
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  MustCompute(&context);
  EXPECT_EQ(account.used, 0u);
}

// Numbers drawn by one would take another's sequence further.
TEST(TensorFlowState, RandomNumbersBelongToOneContext) {
  const Host host;
  const std::string shape = NumberField(1, 3) + BytesField(2, BytesField(2, NumberField(1, 1))) + NumberField(7, 4);
  const std::string constant = TypeAttribute("dtype", 3) + Attribute("value", BytesField(8, shape));
  const std::string seeded = TypeAttribute("dtype", 1) + TypeAttribute("T", 3) + Attribute("seed", NumberField(3, 5)) +
                             Attribute("seed2", NumberField(3, 6));
  const Model model(
      host,
      TfGraph({TfNode("shape", "Const", {}, constant), TfNode("drawn", "RandomUniform", {"shape"}, seeded),
               TfNode("y", "Mul", {"x", "drawn"}, TypeAttribute("T", 1))}),
      Frozen());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  const auto draw = [](Context* context) {
    EXPECT_TRUE(context->Set(0, Floats({}, {1})));
    MustCompute(context);
    return MustGet(context, 0).As<float>();
  };
  Context first(model), second(model);
  const std::vector<float> one = draw(&first), two = draw(&first);
  EXPECT_NE(one, two);
  EXPECT_EQ(draw(&second), one);
  EXPECT_EQ(draw(&second), two);
}

// Reading variables and tables needs no session apart: all contexts have the weights once.
TEST(TensorFlowState, ThatNothingWritesIsShared) {
  const Host host;
  for (const char* name : {"two_signatures", "vocabulary"}) {
    const Model model(host, ModelBytes(std::string(name) + "/saved_model.pb"),
                      Saved(name, R"({"allow_file_ops": true})"));
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
    EXPECT_THAT(host.table().describe(model.get()), HasSubstr(R"("stateful":false)")) << name;
  }
}

TEST(TensorFlowCompute, OutputsOverTheLimitAreAnError) {
  const Host host;
  const Model model(host, ModelBytes("huge_output.pb"), Frozen());
  Context context(model, 1000);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {2}, {10, 25})));
  MustCompute(&context);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {2}, {10, 26})));
  EXPECT_EQ(context.Compute().code, WASINN_TOO_LARGE);
  Tensor none;
  EXPECT_EQ(context.Get(0, &none).code, WASINN_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {3}, {1 << 20, 1 << 20, 1 << 20})));
  const Result huge = context.Compute();
  EXPECT_EQ(huge.code, WASINN_TOO_LARGE) << huge.message;
}

}  // namespace
}  // namespace wasinn::test
