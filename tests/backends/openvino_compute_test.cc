// Inferences, and what is said of their tensors.
#include "backends/expect.h"
#include "backends/openvino_models.h"

namespace wasinn::test {
namespace {

LoadedModel IrModel(const Host& host, const std::string& name) { return {host, IrXml(name), IrOptions(name)}; }

class OpenVinoElementTypes : public ::testing::TestWithParam<ElementType> {};

TEST_P(OpenVinoElementTypes, GoInAndOutAsTheyAre) {
  const Host host;
  const Tensor in = EveryBit(GetParam());
  ExpectIdentity(IrModel(host, std::string("identity_") + GetParam().name), in, in.dims);
}

INSTANTIATE_TEST_SUITE_P(All, OpenVinoElementTypes, ::testing::ValuesIn(kElementTypes),
                         [](const auto& type) { return std::string(type.param.name); });

TEST(OpenVinoCompute, ServesScalarsAndEmptyTensors) {
  const Host host;
  for (const auto& [name, in] : {std::pair<const char*, Tensor>("identity_scalar", Floats({}, {3.5f})),
                                 {"identity_empty", Floats({0, 3}, {})}}) {
    const LoadedModel model = IrModel(host, name);
    EXPECT_EQ(model.input(0).rank, static_cast<int32_t>(in.dims.size()));
    ExpectIdentity(model, in, in.dims);
  }
}

TEST(OpenVinoCompute, NamesWhatTheCpuDoesNotTake) {
  const Host host;
  const Model model(host, IrXml("any_rank"), IrOptions("any_rank"));
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_RUNTIME);
  EXPECT_THAT(model.loaded().message, HasSubstr("dynamic rank"));
}

// The model says from 1 to 4, for which the signature has no word: OpenVINO refuses the rest.
TEST(OpenVinoCompute, RefusesShapesOutOfTheModelsBounds) {
  const Host host;
  const LoadedModel model = IrModel(host, "bounded");
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2, 2}, {1, -2, 3, -4})));
  const Result refused = context.Set(0, Floats({5, 2}, std::vector<float>(10)));
  EXPECT_EQ(refused.code, WASINN_ERROR_INVALID_ARGUMENT) << refused.message;
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_INVALID_ARGUMENT) << "it is unset";
  EXPECT_THAT(Compute(&context, {Floats({2, 2}, {1, -2, 3, -4})}).As<float>(), ElementsAre(1, 0, 3, 0));
}

// OpenVINO keeps it: its guest pays for it.
TEST(OpenVinoCompute, MemoryOfALargerEarlierOutputIsCharged) {
  const Host host;
  const LoadedModel model = IrModel(host, "dynamic");
  Account account;
  {
    Context context(model, 0, "{}", &account);
    const auto compute = [&](int64_t n) {
      EXPECT_TRUE(context.Set(0, Floats({n, 2}, std::vector<float>(2 * static_cast<size_t>(n)))));
      return context.Compute();
    };
    EXPECT_TRUE(compute(1));
    EXPECT_EQ(account.used, 0u);
    EXPECT_TRUE(compute(1000));
    EXPECT_EQ(account.used, 0u) << "the output itself is the core's";
    EXPECT_TRUE(compute(1));
    EXPECT_EQ(account.used, 8000u - 8);
    account.limit = 10'000;
    EXPECT_TRUE(compute(5000));
    EXPECT_EQ(compute(1).code, WASINN_ERROR_TOO_LARGE);
    EXPECT_EQ(account.used, 0u) << "it has let go of it";
    EXPECT_TRUE(compute(1));
  }
  EXPECT_EQ(account.used, 0u);
}

TEST(OpenVinoCompute, ShowsOutputsWhoseShapeTheDataDecide) {
  const Host host;
  const LoadedModel model = IrModel(host, "nonzero");
  Context context(model);
  ExpectPlacesOfNonzeros(&context);
}

TEST(OpenVinoCompute, RefusesWhatIsNoTensorOfNumbers) {
  const Host host;
  const LoadedModel model = IrModel(host, "strings");
  EXPECT_EQ(model.input(0).flags, uint32_t{WASINN_IO_UNSERVABLE});
  EXPECT_STREQ(model.input(0).type_name, "string");
  EXPECT_EQ(model.input(1).flags, 0u);
  Context context(model);
  const Result set = context.Set(0, Tensor{WASINN_DTYPE_U8, {2}, "ab"});
  EXPECT_EQ(set.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(set.message, HasSubstr("string"));
}

TEST(OpenVinoCompute, RefusesTensorsOfAnotherTypeOrShape) {
  const Host host;
  const LoadedModel model = IrModel(host, "mean");
  Context context(model);
  EXPECT_EQ(context.Set(0, {WASINN_DTYPE_U8, {1, 3, 8, 8}, std::string(192, '\0')}).code,
            WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(context.Set(0, Floats({1, 3, 8, 7}, std::vector<float>(168))).code, WASINN_ERROR_INVALID_ARGUMENT);
}

// OpenVINO computes on the weights where they lie: they must be there for as long as the model is.
TEST(OpenVinoCompute, KeepsTheWeightsAlive) {
  const Host host;
  std::vector<float> x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3;
  const std::vector<Tensor> in = {Floats({1, 64}, x)};
  LoadOptions by_name = OpenVinoOptions();
  by_name.path = ModelPath("matmul.xml");
  const std::string want = Compute(LoadedModel(host, IrXml("matmul"), by_name), in).bytes;
  const LoadedModel model = IrModel(host, "matmul");
  // They may get the memory of freed weights, and write into it.
  std::vector<std::string> others(64, std::string(8192, '\x7f'));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Compute(model, in).bytes, want);
}

// Contexts of one model in threads of their own, each with numbers of its own.
TEST(OpenVinoThreads, ComputeAtOnceOnOneStream) {
  const Host host(R"({"streams": 1})");
  const LoadedModel model = IrModel(host, "two_in_two_out");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&model, t] {
      Context context(model);
      const Tensor b = Floats({2, 2}, std::vector<float>(4, static_cast<float>(t)));
      for (int i = 0; i < 50; ++i) {
        const auto a = static_cast<float>(i);
        ASSERT_THAT(Compute(&context, {Floats({2, 2}, std::vector<float>(4, a)), b}).As<float>(),
                    Each(a - static_cast<float>(t)));
        ASSERT_THAT(MustGet(&context, 1).As<float>(), Each(a + static_cast<float>(t)));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

// Contexts are made, used and freed in threads while others compute.
TEST(OpenVinoThreads, MakeContextsAtOnce) {
  const Host host;
  const LoadedModel model = IrModel(host, "dynamic");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&model, t] {
      for (int64_t i = 1; i < 20; ++i) {
        const Tensor in = Floats({i, t + 1}, std::vector<float>(static_cast<size_t>(i * (t + 1)), 1.5f));
        ASSERT_EQ(Compute(model, {in}).bytes, in.bytes);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace wasinn::test
