// Inferences, against OpenVINO called natively.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "backends/expect.h"
#include "backends/openvino_native.h"
#include "backends/test_host.h"

namespace wasinn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OpenVinoElementTypes : public ::testing::TestWithParam<ElementType> {};

TEST_P(OpenVinoElementTypes, GoInAndOutAsTheyAre) {
  const std::string name = std::string("identity_") + GetParam().name;
  const Tensor in = EveryBit(GetParam());
  const Host host;
  ExpectIdentity(Model(host, IrXml(name), IrOptions(name)), in, in.dims,
                 NativeOpenVino().Run(ModelPath(name + ".xml"), {in}).at(0).bytes);
}

INSTANTIATE_TEST_SUITE_P(All, OpenVinoElementTypes, ::testing::ValuesIn(kElementTypes),
                         [](const auto& type) { return std::string(type.param.name); });

TEST(OpenVinoCompute, ServesScalarsAndEmptyTensors) {
  const Host host;
  const Model scalar(host, IrXml("identity_scalar"), IrOptions("identity_scalar"));
  ASSERT_TRUE(scalar.loaded()) << scalar.loaded().message;
  EXPECT_EQ(scalar.input(0).rank, 0);
  Context one(scalar);
  ASSERT_TRUE(one.Set(0, Floats({}, {3.5f})));
  const Result computed_one = one.Compute();
  ASSERT_TRUE(computed_one) << computed_one.message;
  EXPECT_TRUE(MustGet(&one, 0).dims.empty());
  EXPECT_THAT(MustGet(&one, 0).As<float>(), ElementsAre(3.5f));

  const Model empty(host, IrXml("identity_empty"), IrOptions("identity_empty"));
  ASSERT_TRUE(empty.loaded()) << empty.loaded().message;
  Context none(empty);
  ASSERT_TRUE(none.Set(0, Floats({0, 3}, {})));
  const Result computed = none.Compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_THAT(MustGet(&none, 0).dims, ElementsAre(0, 3));
  EXPECT_TRUE(MustGet(&none, 0).bytes.empty());
}

TEST(OpenVinoCompute, NamesWhatTheCpuDoesNotTake) {
  const Host host;
  const Model model(host, IrXml("any_rank"), IrOptions("any_rank"));
  EXPECT_EQ(model.loaded().code, WASINN_RUNTIME_ERROR);
  EXPECT_THAT(model.loaded().message, HasSubstr("dynamic rank"));
}

// The model says from 1 to 4, for which the signature has no word: OpenVINO refuses the rest.
TEST(OpenVinoCompute, RefusesShapesOutOfTheModelsBounds) {
  const Host host;
  const Model model(host, IrXml("bounded"), IrOptions("bounded"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2, 2}, {1, -2, 3, -4})));
  const Result refused = context.Set(0, Floats({5, 2}, std::vector<float>(10)));
  EXPECT_EQ(refused.code, WASINN_INVALID_ARGUMENT) << refused.message;
  EXPECT_EQ(context.Compute().code, WASINN_INVALID_ARGUMENT) << "it is unset";
  ASSERT_TRUE(context.Set(0, Floats({2, 2}, {1, -2, 3, -4})));
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(1, 0, 3, 0));
}

// OpenVINO does: its guest pays for it.
TEST(OpenVinoCompute, WhatIsKeptForALargerOutputIsCharged) {
  const Host host;
  const Model model(host, IrXml("dynamic"), IrOptions("dynamic"));
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
    EXPECT_EQ(compute(1).code, WASINN_TOO_LARGE);
    EXPECT_EQ(account.used, 0u) << "it has let go of it";
    EXPECT_TRUE(compute(1));
  }
  EXPECT_EQ(account.used, 0u);
}

TEST(OpenVinoCompute, ShowsOutputsWhoseShapeTheDataDecide) {
  const Host host;
  const Model model(host, IrXml("nonzero"), IrOptions("nonzero"));
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

// An output that is an input must not change when the input is set again; nor may a constant be overwritten.
TEST(OpenVinoCompute, KeepsOutputsApartFromInputsAndConstants) {
  const Host host;
  const Model model(host, IrXml("passed_on"), IrOptions("passed_on"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  for (const float x : {1.0f, -2.0f, 3.0f}) {
    ASSERT_TRUE(context.Set(0, Floats({2}, {x, 2 * x})));
    const Result computed = context.Compute();
    ASSERT_TRUE(computed) << computed.message;
    ASSERT_TRUE(context.Set(0, Floats({2}, {9, 9})));
    EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(x, 2 * x));
    EXPECT_THAT(MustGet(&context, 1).As<float>(), ElementsAre(5, 6));
    EXPECT_THAT(MustGet(&context, 2).As<float>(), ElementsAre(std::max(x, 0.0f), std::max(2 * x, 0.0f)));
  }
}

TEST(OpenVinoCompute, RefusesWhatIsNoTensorOfNumbers) {
  const Host host;
  const Model model(host, IrXml("strings"), IrOptions("strings"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  EXPECT_EQ(model.input(0).flags, uint32_t{WASINN_IO_UNSERVABLE});
  EXPECT_STREQ(model.input(0).type_name, "string");
  EXPECT_EQ(model.input(1).flags, 0u);
  Context context(model);
  const Result set = context.Set(0, Tensor{WASINN_U8, {2}, "ab"});
  EXPECT_EQ(set.code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(set.message, HasSubstr("string"));
}

TEST(OpenVinoCompute, RefusesTensorsOfAnotherType) {
  const Host host;
  const Model model(host, IrXml("mean"), IrOptions("mean"));
  Context context(model);
  EXPECT_EQ(context.Set(0, MakeTensor<uint8_t>(WASINN_U8, {1, 3, 8, 8}, std::vector<uint8_t>(192))).code,
            WASINN_INVALID_ARGUMENT);
  EXPECT_EQ(context.Set(0, Floats({1, 3, 8, 7}, std::vector<float>(168))).code, WASINN_INVALID_ARGUMENT);
  EXPECT_EQ(context.Set(1, Floats({1}, {1})).code, WASINN_INVALID_ARGUMENT);
}

// OpenVINO computes on the weights where they lie: they must be there for as long as the model is.
TEST(OpenVinoCompute, KeepsTheWeightsAlive) {
  const Host host;
  const Model model(host, IrXml("matmul"), IrOptions("matmul"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  std::vector<float> x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3;
  const Tensor in = Floats({1, 64}, x);
  const std::string want = NativeOpenVino().Run(ModelPath("matmul.xml"), {in}).at(0).bytes;
  // Whoever gets the memory of freed weights writes into it.
  std::vector<std::string> others(64, std::string(8192, '\x7f'));
  Context context(model);
  ASSERT_TRUE(context.Set(0, in));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(context.Compute());
    EXPECT_EQ(MustGet(&context, 0).bytes, want);
  }
}

// Contexts of one model in threads of their own, each with numbers of its own.
TEST(OpenVinoThreads, ComputeAtOnceOnOneStream) {
  const Host host(R"({"streams": 1})");
  const Model model(host, IrXml("two_in_two_out"), IrOptions("two_in_two_out"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&model, t] {
      Context context(model);
      const auto base = static_cast<float>(t);
      for (int i = 0; i < 300; ++i) {
        const auto a = static_cast<float>(i);
        ASSERT_TRUE(context.Set(0, Floats({2, 2}, {a, a, a, a})));
        ASSERT_TRUE(context.Set(1, Floats({2, 2}, {base, base, base, base})));
        ASSERT_TRUE(context.Compute());
        ASSERT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(a - base, a - base, a - base, a - base));
        ASSERT_THAT(MustGet(&context, 1).As<float>(), ElementsAre(a + base, a + base, a + base, a + base));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

// Contexts are made, used and freed in threads while others compute.
TEST(OpenVinoThreads, MakeContextsAtOnce) {
  const Host host;
  const Model model(host, IrXml("dynamic"), IrOptions("dynamic"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&model, t] {
      for (int64_t i = 1; i < 40; ++i) {
        Context context(model);
        const Tensor in = Floats({i, t + 1}, std::vector<float>(static_cast<size_t>(i * (t + 1)), 1.5f));
        ASSERT_TRUE(context.Set(0, in));
        ASSERT_TRUE(context.Compute());
        ASSERT_EQ(MustGet(&context, 0).bytes, in.bytes);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace wasinn::test
