// A model's state between computes: contexts, and with them guests, never share it.
#include "backends/expect.h"
#include "backends/torch_models.h"

namespace wasinn::test {
namespace {

// Adds its input to something of its own, where `forward` may do so in many ways, and gives the sum.
std::string Buffered(const std::string& lines) {
  return TorchModel("def forward(self, x):\n" + lines, {{"total", Floats({1}, {0})}});
}

// Running statistics are written without a word in the operator's schema. The mean of all values, of which each is
// the sum, takes the place of the last one.
std::string WithStatistics(std::string lines, const std::string& mean, const std::string& var) {
  const auto replace = [&lines](const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = lines.find(from, at)) != std::string::npos; at += to.size()) {
      lines.replace(at, from.size(), to);
    }
  };
  replace("BATCH", "(MEAN + x).reshape([1, 1]).expand([2, 1])");
  replace("ROW", "(MEAN + x).reshape([1, 1, 1]).expand([1, 1, 2])");
  replace("MEAN", mean);
  replace("VAR", var);
  return "def forward(self, x):\n" + lines + "    return " + mean + " * 1 + y.sum() * 0\n";
}

std::string InBuffers(const std::string& lines) {
  return TorchModel(WithStatistics(lines, "self.total", "self.var"),
                    {{"total", Floats({1}, {0})}, {"var", Floats({1}, {1})}});
}

std::string InAList(const std::string& lines) {
  return TorchHeldList(WithStatistics(lines, "self.held[0]", "self.held[1]"));
}

constexpr char kBatchNorm[] = "    y = torch.batch_norm(BATCH, None, None, MEAN, VAR, True, 1.0, 1e-5, False)\n";
constexpr char kInstanceNorm[] = "    y = torch.instance_norm(ROW, None, None, MEAN, VAR, True, 1.0, 1e-5, False)\n";
constexpr char kNative[] = "    y = torch.native_batch_norm(BATCH, None, None, MEAN, VAR, True, 1.0, 1e-5)[0]\n";
constexpr char kIndexed[] =
    "    y = torch._batch_norm_impl_index(BATCH, None, None, MEAN, VAR, True, 1.0, 1e-5, False)[0]\n";
constexpr char kUpdate[] = "    y = torch.batch_norm_update_stats(BATCH, MEAN, VAR, 1.0)[0]\n";
constexpr char kOptional[] =
    "    mean: Optional[Tensor] = None\n    if bool(x.sum() > -1):\n        mean = MEAN\n"
    "    y = torch.native_batch_norm(BATCH, None, None, mean, VAR, True, 1.0, 1e-5)[0]\n";
// No node reads the value that it wrote in the same compute.
constexpr char kBefore[] =
    "    sum = MEAN + x\n    y = torch.native_batch_norm(BATCH, None, None, MEAN, VAR, True, 1.0, 1e-5)[0]\n"
    "    if bool(x.sum() > -1):\n        return sum + y.sum() * 0\n";
constexpr char kAsked[] =
    "    training = bool(x.sum() > -1)\n"
    "    y = torch.native_batch_norm(BATCH, None, None, MEAN, VAR, training, 1.0, 1e-5)[0]\n";
constexpr char kRead[] =
    "    y = torch.native_batch_norm(BATCH, None, None, MEAN, VAR, False, 1.0, 1e-5)[0]\n"
    "    if bool(x.sum() > -1):\n        return x + y.sum() * 0\n";

const TorchKept kKept[] = {
    {"AnAttribute", true, [] { return Buffered("    self.total = self.total + x\n    return self.total * 1\n"); }},
    {"WhatItGives", true, [] { return Buffered("    self.total = self.total + x\n    return self.total\n"); }},
    {"ABuffer", true, [] { return Buffered("    self.total.add_(x)\n    return self.total * 1\n"); }},
    {"AView", true, [] { return Buffered("    part = self.total[0:1]\n    part += x\n    return self.total * 1\n"); }},
    {"AnInnerFunction", true,
     [] {
       return TorchModel(
           "def forward(self, x):\n    return self.add(x)\n"
           "def add(self, x):\n    self.total.add_(x)\n    return self.total * 1\n",
           {{"total", Floats({1}, {0})}});
     }},
    {"StatisticsOfABatch", true, [] { return InBuffers(kBatchNorm); }},
    {"StatisticsOfAnInstance", true, [] { return InBuffers(kInstanceNorm); }},
    {"StatisticsOfTheNativeOne", true, [] { return InBuffers(kNative); }},
    {"StatisticsOfTheIndexedOne", true, [] { return InBuffers(kIndexed); }},
    {"StatisticsAlone", true, [] { return InBuffers(kUpdate); }},
    {"StatisticsThatMayBeNone", true, [] { return InBuffers(kOptional); }},
    {"StatisticsThatAreNotRead", true, [] { return InBuffers(kBefore); }},
    {"StatisticsIfTheInputSaysSo", true, [] { return InBuffers(kAsked); }},
    {"StatisticsOfABatchInAList", true, [] { return InAList(kBatchNorm); }},
    {"StatisticsOfAnInstanceInAList", true, [] { return InAList(kInstanceNorm); }},
    {"StatisticsOfTheNativeOneInAList", true, [] { return InAList(kNative); }},
    {"StatisticsOfTheIndexedOneInAList", true, [] { return InAList(kIndexed); }},
    {"StatisticsAloneInAList", true, [] { return InAList(kUpdate); }},
    {"StatisticsInAListThatMayBeNone", true, [] { return InAList(kOptional); }},
    {"StatisticsThatAreRead", false, [] { return InBuffers(kRead); }},
    {"StatisticsInAListThatAreRead", false, [] { return InAList(kRead); }},
};

// Operators that may give the memory that they were given, without a word in their schemas.
constexpr std::pair<const char*, const char*> kSameMemory[] = {
    {"Dropout", "y = torch.dropout(GIVEN, 0.5, False)"},
    {"DropoutOfFeatures", "y = torch.feature_dropout(GIVEN, 0.5, False)"},
    {"AlphaDropout", "y = torch.alpha_dropout(GIVEN, 0.5, False)"},
    {"TypeAs", "y = GIVEN.type_as(x)"},
    {"SumToSize", "y = GIVEN.sum_to_size([1])"},
    {"AtLeastOneDimension", "y = torch.atleast_1d(GIVEN)"},
    {"AtLeastOneDimensionOfAList", "y = torch.atleast_1d([GIVEN, x])[0]"},
    {"Broadcast", "y = torch.broadcast_tensors([x, GIVEN])[1]"},
    {"BroadcastWithNames", "z, y = torch.broadcast_tensors([x, GIVEN])"},
    {"Meshgrid", "y = torch.meshgrid([GIVEN])[0]"},
    {"Einsum", "y = torch.einsum(\"i->i\", [GIVEN])"},
    {"CartesianProduct", "y = torch.cartesian_prod([GIVEN])"},
    {"Dequantize", "y = torch.dequantize(GIVEN)"},
    {"ConjPhysical", "y = torch.conj_physical(GIVEN)"},
    {"UnsafeSplit", "y = torch.unsafe_split(GIVEN, 1)[0]"},
    {"Twice", "y = torch.dropout(torch.dropout(GIVEN, 0.5, False).type_as(x), 0.5, False)"},
};

class TorchSameMemory : public ::testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  static std::string Code(const std::string& given, const std::string& added) {
    std::string line = GetParam().second;
    line.replace(line.find("GIVEN"), 5, given);
    return "def forward(self, x):\n    " + line + "\n    y.add_(" + added + ")\n    return y * 1\n";
  }
  static float Result(Context* context) { return Compute(context, {}).As<float>().at(0); }

  const Host host_;
};

TEST_P(TorchSameMemory, OfTheModelIsItsState) {
  const LoadedModel model(host_, TorchModel(Code("self.total", "x"), {{"total", Floats({1}, {0})}}), TorchOptions());
  EXPECT_THAT(host_.table().describe(model.get()), HasSubstr("\"stateful\": true"));
  Context first(model), second(model);
  ASSERT_TRUE(first.Set(0, Floats({1}, {5})));
  ASSERT_TRUE(second.Set(0, Floats({1}, {1})));
  EXPECT_EQ(Result(&first), 5);
  EXPECT_EQ(Result(&second), 1);
}

TEST_P(TorchSameMemory, OfAnInputIsNotWritten) {
  const LoadedModel model(host_, TorchModel(Code("x", "1")), TorchOptions());
  EXPECT_THAT(host_.table().describe(model.get()), HasSubstr("\"stateful\": false"));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Result(&context), 2);
}

// PyTorch computes what is constant once, and would then write there.
TEST_P(TorchSameMemory, OfWhatIsConstantIsMadeAnew) {
  const LoadedModel model(host_, TorchModel(Code("torch.zeros([1])", "x")), TorchOptions());
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Result(&context), 1);
}

INSTANTIATE_TEST_SUITE_P(All, TorchSameMemory, ::testing::ValuesIn(kSameMemory),
                         [](const auto& given) { return std::string(given.param.first); });

// These make a new tensor from several.
TEST(TorchShared, TensorsMadeFromAListMayBeTheirElement) {
  const Host host;
  for (const char* made : {"torch.einsum(\"i,i->i\", [self.total, x])", "torch.cartesian_prod([self.total, x])"}) {
    const LoadedModel model(
        host,
        TorchModel(std::string("def forward(self, x):\n    y = ") + made + "\n    y.add_(1)\n    return y * 1\n",
                   {{"total", Floats({1}, {0})}}),
        TorchOptions());
    EXPECT_THAT(host.table().describe(model.get()), HasSubstr("\"stateful\": false")) << made;
  }
}

// Nothing of what it has is written: contexts share it, and its weights with it.
TEST(TorchShared, ContainersThatAreOnlyRead) {
  const Host host;
  const LoadedModel model(host, TorchReader(), TorchOptions());
  EXPECT_THAT(host.table().describe(model.get()), HasSubstr("\"stateful\": false"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Compute(model, {Floats({1}, {1})}).As<float>(), ElementsAre(8));
  }
}

// All contexts have the code's constants, so that none may write to one.
TEST(TorchShared, NoListThatIsWrittenTo) {
  const Host host;
  const Model model(host, TorchListConstant(), TorchOptions());
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION) << model.loaded().message;
  EXPECT_THAT(model.loaded().message, HasSubstr("List[int]"));
}

// Contexts of a model with state have its weights each for itself, and what they add to it: their guests pay.
TEST(TorchMemory, OfStateIsCharged) {
  constexpr uint64_t kMiB = 1 << 20;
  const Host host;
  const std::string growing =
      TorchModel("def forward(self, x):\n    self.total = torch.cat([self.total, x])\n    return self.total[0:1] * 1\n",
                 {{"total", Floats({1 << 20}, std::vector<float>(1 << 20, 1))}});
  const LoadedModel model(host, growing, TorchOptions());
  Account account = {.limit = 41 * kMiB};
  const Contexts contexts(host, model, {.account = &account});
  EXPECT_EQ(contexts.refused.code, WASINN_ERROR_TOO_LARGE) << contexts.refused.message;
  EXPECT_THAT(contexts.made, AllOf(::testing::Ge(8u), ::testing::Le(10u)));
  EXPECT_EQ(account.used, 0u);
  {
    Context context(model, 0, "{}", &account);
    ASSERT_TRUE(context.Set(0, Floats({1 << 21}, std::vector<float>(1 << 21, 2))));
    Result computed;
    for (int i = 0; i < 6 && (computed = context.Compute()); ++i) EXPECT_GE(account.used, 8 * kMiB);
    EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
    EXPECT_LE(account.used, 41 * kMiB);
    MustCompute(&context);  // from the beginning
  }
  EXPECT_EQ(account.used, 0u);
}

// Gives the sum of what it keeps where all of x is below zero, and fails after it has kept x where it is not.
std::string FailingAfterItKept() {
  return TorchModel(
      "def forward(self, x):\n    if bool(x.sum() < 0):\n        return self.total.sum()\n"
      "    self.total = torch.cat([self.total, x])\n    return torch.reshape(x, [7])\n",
      {{"total", Floats({1}, {1})}});
}

TEST(TorchMemory, OfStateIsChargedWhereTheComputeFails) {
  constexpr uint64_t kMiB = 1 << 20;
  const Host host;
  const LoadedModel model(host, FailingAfterItKept(), TorchOptions());
  const Tensor more = Floats({1 << 18}, std::vector<float>(1 << 18, 1));
  const auto sum = [](Context* context) { return Compute(context, {Floats({1}, {-1})}).As<float>().at(0); };
  Account account = {.limit = 3 * kMiB + kMiB / 2};
  {
    Context context(model, 0, "{}", &account);
    EXPECT_LT(account.used, kMiB);
    for (uint64_t i = 1; i <= 3; ++i) {
      ASSERT_TRUE(context.Set(0, more));
      EXPECT_EQ(context.Compute().code, WASINN_ERROR_RUNTIME);
      EXPECT_GE(account.used, i * kMiB);
    }
    EXPECT_EQ(sum(&context), 3 * (1 << 18) + 1);
    const uint64_t kept = AllocatedBytes();
    ASSERT_TRUE(context.Set(0, more));
    EXPECT_EQ(context.Compute().code, WASINN_ERROR_RUNTIME);
    EXPECT_LT(account.used, kMiB);
    EXPECT_LT(AllocatedBytes() + kMiB, kept) << "memory that is not charged is gone";
    EXPECT_EQ(sum(&context), 1) << "from the beginning";
  }
  EXPECT_EQ(account.used, 0u);
}

// A context that holds an output holds no more than that output.
TEST(TorchMemory, OfAnOutputThatIsAPartOfMoreIsThatPart) {
  constexpr uint64_t kWhole = 16 << 20;
  const Host host;
  for (const char* part : {"whole[5:6]", "whole[0:1]", "whole[7]", "whole[3:3]", "torch.split(whole, 1024)[1]",
                           "whole.view([1024, 4096])[2:4].reshape([2, 64, 64])"}) {
    const LoadedModel model(
        host,
        TorchModel(std::string("def forward(self, x):\n    whole = x.expand([4194304]) + 1\n    return ") + part +
                   "\n"),
        TorchOptions());
    Context context(model);
    ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
    MustCompute(&context);
    wasinn_tensor taken = {.struct_size = sizeof(taken)};
    ASSERT_TRUE(TakeError(host.table().take_output(context.get(), 0, &taken)));
    const uint64_t before = AllocatedBytes();
    MustCompute(&context);
    EXPECT_LT(AllocatedBytes(), before + kWhole / 2) << part;
    for (const float value : MustGet(&context, 0).As<float>()) ASSERT_EQ(value, 2) << part;
    taken.release(taken.owner);
    EXPECT_LT(before, AllocatedBytes() + kWhole / 2) << part << ": what was taken had no more";
  }
}

class TorchState : public ::testing::TestWithParam<TorchKept> {};

TEST_P(TorchState, BelongsToOneContext) {
  const Host host;
  // Guests' models may not use all of these operators.
  const LoadedModel model(host, GetParam().make(), TorchOptions("/models/model.pt"));
  const bool stateful = GetParam().stateful;
  EXPECT_THAT(host.table().describe(model.get()), HasSubstr(stateful ? "\"stateful\": true" : "\"stateful\": false"));
  const auto add = [](Context* context, float x) { return Compute(context, {Floats({1}, {x})}).As<float>().at(0); };
  Context beside(model);
  {
    Context gone(model);
    EXPECT_EQ(add(&gone, 5), 5);
    EXPECT_EQ(add(&beside, 1), 1);
    EXPECT_EQ(add(&gone, 2), stateful ? 7 : 2);
  }
  Context after(model);
  EXPECT_EQ(add(&after, 3), 3);
  EXPECT_EQ(add(&beside, 1), stateful ? 2 : 1);
}

const auto kNameOfKept = [](const auto& kept) { return kept.param.name; };
INSTANTIATE_TEST_SUITE_P(All, TorchState, ::testing::ValuesIn(kKept), kNameOfKept);
INSTANTIATE_TEST_SUITE_P(Holders, TorchState, ::testing::ValuesIn(TorchHolders()), kNameOfKept);

}  // namespace
}  // namespace wasinn::test
