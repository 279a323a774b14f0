// Inferences, what is said of their tensors, and what they leave behind.
#include "backends/expect.h"
#include "backends/tensorflow_writer.h"

namespace wasinn::test {
namespace {

LoadOptions Frozen() { return {.encoding = "tensorflow"}; }

// By name: the host's own.
LoadedModel Saved(const Host& host, const std::string& name, const std::string& config = "{}") {
  const std::string file = name + "/saved_model.pb";
  return {host, ModelBytes(file), {.encoding = "tensorflow", .path = ModelPath(file), .host_config = config}};
}

class TensorFlowElementTypes : public ::testing::TestWithParam<ElementType> {};

TEST_P(TensorFlowElementTypes, GoInAndOutAsTheyAre) {
  const Host host;
  const Tensor in = EveryBit(GetParam());
  ExpectIdentity({host, ModelBytes(std::string("identity_") + GetParam().name + ".pb"), Frozen()}, in, in.dims);
}

INSTANTIATE_TEST_SUITE_P(All, TensorFlowElementTypes, ::testing::ValuesIn(kElementTypes),
                         [](const auto& type) { return std::string(type.param.name); });

TEST(TensorFlowCompute, ServesScalarsAndEmptyTensors) {
  const Host host;
  for (const auto& [name, in] : {std::pair<const char*, Tensor>("identity_scalar.pb", Floats({}, {3.5f})),
                                 {"identity_empty.pb", Floats({0, 3}, {})}}) {
    ExpectIdentity({host, ModelBytes(name), Frozen()}, in, in.dims);
  }
}

TEST(TensorFlowCompute, TakesAnyRank) {
  const Host host;
  const LoadedModel unknown(host, ModelBytes("unknown_rank.pb"), Frozen());
  EXPECT_EQ(unknown.input(0).rank, -1);
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {1}, {1, 1, 1}}) {
    const Tensor out = Compute(unknown, {Floats(dims, {2})});
    EXPECT_EQ(out.dims, dims);
    EXPECT_THAT(out.As<float>(), ElementsAre(-2));
  }
}

TEST(TensorFlowCompute, ShowsOutputsWhoseShapeTheDataDecide) {
  const Host host;
  const LoadedModel model(host, ModelBytes("nonzero.pb"), Frozen());
  EXPECT_EQ(model.output(0).rank, 2);
  EXPECT_THAT(std::vector(model.output(0).dims, model.output(0).dims + 2), ElementsAre(-1, 2));
  Context context(model);
  for (const auto& [values, places] :
       {std::pair<std::vector<float>, std::vector<int64_t>>({0, 1, 0, 0, 2, 3}, {0, 1, 1, 1, 1, 2}),
        {{0, 0, 0, 0, 0, 0}, {}}}) {
    const Tensor out = Compute(&context, {Floats({2, 3}, values)});
    EXPECT_THAT(out.dims, ElementsAre(static_cast<int64_t>(places.size() / 2), 2));
    EXPECT_EQ(out.As<int64_t>(), places);
  }
}

TEST(TensorFlowCompute, TakesDefaultsForOptionalInputs) {
  const Host host;
  const LoadedModel model(host, ModelBytes("optional_input.pb"), Frozen());
  ASSERT_EQ(model.info().n_inputs, 2u);
  EXPECT_STREQ(model.input(0).name, "offset");
  EXPECT_EQ(model.input(0).flags, static_cast<uint32_t>(WASINN_IO_OPTIONAL));
  EXPECT_EQ(model.input(1).flags, 0u);
  Context context(model);
  ASSERT_TRUE(context.Set(1, Floats({2}, {1, 2})));
  EXPECT_THAT(Compute(&context, {}).As<float>(), ElementsAre(11, 22));
  EXPECT_THAT(Compute(&context, {Floats({2}, {100, 200})}).As<float>(), ElementsAre(101, 202));
}

// Several outputs of one graph, in the order of their names.
TEST(TensorFlowCompute, ServesSeveralOutputs) {
  const Host host;
  const LoadedModel model(host, ModelBytes("mult_output.pb"), Frozen());
  ASSERT_EQ(model.info().n_outputs, 2u);
  EXPECT_STREQ(model.output(0).name, "average");
  EXPECT_STREQ(model.output(1).name, "largest");
  Context context(model);
  EXPECT_THAT(Compute(&context, {Floats({1, 4, 4, 1}, std::vector<float>(16, 2))}).As<float>(), Each(2));
  EXPECT_THAT(MustGet(&context, 1).As<float>(), Each(2));
}

TEST(TensorFlowCompute, OutputsThatAreInputsAreNotTheInputsMemory) {
  const Host host;
  const LoadedModel same = Saved(host, "two_tags");
  EXPECT_STREQ(same.output(1).name, "same");
  Context passed(same);
  Compute(&passed, {Floats({2}, {3, 4})});
  ASSERT_TRUE(passed.Set(0, Floats({2}, {0, 0})));
  EXPECT_THAT(MustGet(&passed, 1).As<float>(), ElementsAre(3, 4));
  // One tensor behind two names.
  EXPECT_THAT(MustGet(&passed, 0).As<float>(), ElementsAre(6, 8));
  EXPECT_THAT(MustGet(&passed, 2).As<float>(), ElementsAre(6, 8));
}

// Only requested outputs are computed: a node that fails does not fail the run.
TEST(TensorFlowCompute, UnwantedOutputsAreNotComputed) {
  auto&& [host, model, context] =
      Opened(ModelBytes("huge_output.pb"), {.encoding = "tensorflow", .host_config = R"({"outputs": ["shape", "y"]})"});
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {2}, {-1, 3})));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_RUNTIME);
  ASSERT_TRUE(context.Compute({0}));
  EXPECT_THAT(MustGet(&context, 0).As<int64_t>(), ElementsAre(-1, 3));
}

// A variable takes an input's memory as its value, and shows it in the next run.
TEST(TensorFlowState, NeverSeesMemoryThatWeWriteAgain) {
  const Host host;
  const LoadedModel model = Saved(host, "counter");
  Context context(model);
  EXPECT_THAT(Compute(&context, {Floats({2}, {3, 4})}).As<float>(), ElementsAre(0, 0));
  EXPECT_THAT(Compute(&context, {Floats({2}, {5, 6})}).As<float>(), ElementsAre(3, 4));
}

// For that each compute has a copy of the inputs.
TEST(TensorFlowState, PaysForCopiesOfInputs) {
  const Host host;
  const LoadedModel model = Saved(host, "counter");
  Account account;
  Context context(model, 0, "{}", &account);
  ASSERT_TRUE(context.Set(0, Floats({2}, {3, 4})));
  MustCompute(&context);
  const uint64_t between = account.used;
  EXPECT_GE(account.most, between + 8);
  account.limit = between + 7;
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(account.used, between);
  account.limit = between + 8;
  MustCompute(&context);
}

// No context reads the variables of another one, neither at the same time nor later.
TEST(TensorFlowState, BelongsToOneContext) {
  const Host host;
  const LoadedModel model = Saved(host, "counter");
  EXPECT_THAT(host.table().describe(model.get()), HasSubstr(R"("stateful":true)"));
  const auto before = [](Context* context, const std::vector<float>& next) {
    return Compute(context, {Floats({2}, next)}).As<float>();
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
  const LoadedModel model = Saved(host, "counter");
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
    EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
  }
  EXPECT_EQ(account.used, 0u);
  // One that all share is the host's.
  const LoadedModel shared = Saved(host, "two_tags");
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
  const LoadedModel model(
      host,
      TfGraph({TfNode("shape", "Const", {}, constant), TfNode("drawn", "RandomUniform", {"shape"}, seeded),
               TfNode("y", "Mul", {"x", "drawn"}, TypeAttribute("T", 1))}),
      Frozen());
  const auto draw = [](Context* context) { return Compute(context, {Floats({}, {1})}).As<float>(); };
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
    const LoadedModel model = Saved(host, name, R"({"allow_file_ops": true})");
    EXPECT_THAT(host.table().describe(model.get()), HasSubstr(R"("stateful":false)")) << name;
  }
}

TEST(TensorFlowCompute, OutputsOverTheLimitAreAnError) {
  const Host host;
  const Model model(host, ModelBytes("huge_output.pb"), Frozen());
  Context context(model, 1000);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {2}, {10, 25})));
  MustCompute(&context);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {2}, {10, 26})));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
  Tensor none;
  EXPECT_EQ(context.Get(0, &none).code, WASINN_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_DTYPE_I64, {3}, {1 << 20, 1 << 20, 1 << 20})));
  const Result huge = context.Compute();
  EXPECT_EQ(huge.code, WASINN_ERROR_TOO_LARGE) << huge.message;
}

}  // namespace
}  // namespace wasinn::test
