// Sets of inputs and outputs that guests choose.
#include "backends/expect.h"
#include "backends/tensorflow_writer.h"

namespace wasinn::test {
namespace {

const LoadOptions kGuestOfSets = {.encoding = "tensorflow"};

// A thousand nodes, of which eight outputs in the order of their names take the last: its negative, its size, in turn.
std::string ManyOutputs() {
  std::vector<std::string> nodes;
  std::string last = "x";
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "n" + std::to_string(i);
    nodes.push_back(TfNode(name, i % 2 == 0 ? "Sin" : "Cos", {last}, TypeAttribute("T", 1)));
    last = name;
  }
  for (int i = 0; i < 8; ++i) {
    nodes.push_back(TfNode("y" + std::to_string(i), i % 2 == 0 ? "Neg" : "Abs", {last}, TypeAttribute("T", 1)));
  }
  return TfGraph(nodes);
}

// TensorFlow keeps a graph with kernels for each set of outputs that a session was once asked for.
TEST(TensorFlowSets, OfOutputsAreBounded) {
  constexpr uint64_t kMiB = 1 << 20;
  const Host host;
  const LoadedModel model(host, ManyOutputs(), kGuestOfSets);
  Account account;
  {
    Context context(model, 0, "{}", &account);
    std::vector<float> expected(8);
    const auto compute = [&](uint32_t wanted) {
      std::vector<uint32_t> indices;
      for (uint32_t i = 0; i < 8; ++i) {
        if ((wanted >> i & 1) != 0) indices.push_back(i);
      }
      ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
      const Result computed = context.Compute(indices);
      ASSERT_TRUE(computed) << computed.message;
      for (uint32_t i = 0; i < 8; ++i) {
        if (indices.empty()) expected[i] = MustGet(&context, i).As<float>().at(0);
        if ((wanted >> i & 1) != 0) {
          ASSERT_EQ(MustGet(&context, i).As<float>().at(0), expected[i]) << wanted;
        }
      }
    };
    compute(0);  // all
    EXPECT_NE(expected[0], expected[1]);
    for (uint32_t wanted = 1; wanted <= 12; ++wanted) compute(wanted);
    const uint64_t before = AllocatedBytes(), charged = account.used;
    EXPECT_GT(charged, 0u) << "what the shared session does not keep is the guest's own";
    for (uint32_t wanted = 13; wanted <= 28; ++wanted) compute(wanted);
    EXPECT_LT(AllocatedBytes(), before + kMiB);
    EXPECT_LE(account.used, charged);
    // All outputs come from the shared session.
    compute(255);
    EXPECT_EQ(account.used, 0u);
    compute(1);
    EXPECT_EQ(account.used, 0u);
    // And without the memory for one of its own.
    account.limit = 1000;
    const Result computed = context.Compute({4, 6});
    EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
    EXPECT_EQ(account.used, 0u);
  }
  EXPECT_EQ(account.used, 0u);
}

// A guest's model of few bytes can have large constants, which each of these graphs holds again.
TEST(TensorFlowSets, OfAGuestsModelAreCharged) {
  constexpr int64_t kElements = 1 << 20;
  constexpr uint64_t kBytes = kElements * sizeof(float);
  const Host host;
  const std::string filled = TypeAttribute("dtype", 1) + Attribute("value", BytesField(8, FilledTensor({kElements})));
  std::vector<std::string> nodes = {TfNode("c", "Const", {}, filled)};
  for (int i = 0; i < 4; ++i) {
    nodes.push_back(TfNode("y" + std::to_string(i), "AddV2", {"x", "c"}, TypeAttribute("T", 1)));
  }
  Account account;
  LoadOptions options = kGuestOfSets;
  options.account = &account;
  const LoadedModel model(host, TfGraph(nodes), options);
  Account others;
  Context context(model, 0, "{}", &others);
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  const uint64_t before = AllocatedBytes(), charged = account.used;
  const auto compute = [&](uint32_t wanted) {
    const Result computed = context.Compute({wanted});
    context.DiscardOutputs();
    return computed;
  };
  for (uint32_t wanted = 0; wanted < 3; ++wanted) {
    ASSERT_TRUE(compute(wanted));
    EXPECT_LT(AllocatedBytes() - before, account.used - charged + kBytes) << wanted;
  }
  // The context pays if the model's account cannot.
  account.limit = account.used;
  EXPECT_EQ(others.used, 0u);
  ASSERT_TRUE(compute(3));
  EXPECT_GE(others.used, kBytes);
  others.limit = 0;
  ASSERT_TRUE(compute(0));
  EXPECT_EQ(others.used, 0u);
  EXPECT_EQ(compute(3).code, WASINN_ERROR_TOO_LARGE);
}

// So it does for each set of inputs.
TEST(TensorFlowSets, OfInputsAreBounded) {
  constexpr uint64_t kMiB = 1 << 20;
  const Host host;
  std::vector<std::string> nodes;
  std::string sum = "x";
  const std::string one = TypeAttribute("dtype", 1) + Attribute("value", BytesField(8, FilledTensor({1})));
  nodes.push_back(TfNode("one", "Const", {}, one));
  const std::string optional = TypeAttribute("dtype", 1) + Attribute("shape", BytesField(7, NumberField(3, 1)));
  for (int i = 0; i < 6; ++i) {
    const std::string input = "a" + std::to_string(i);
    nodes.push_back(TfNode(input, "PlaceholderWithDefault", {"one"}, optional));
    for (int n = 0; n < 100; ++n) {
      const std::string name = "s" + std::to_string(i) + "x" + std::to_string(n);
      nodes.push_back(TfNode(name, n == 0 ? "AddV2" : "Abs", n == 0 ? std::vector{sum, input} : std::vector{sum},
                             TypeAttribute("T", 1)));
      sum = name;
    }
  }
  const LoadedModel model(host, TfGraph(nodes), kGuestOfSets);
  ASSERT_EQ(model.info().n_inputs, 7u);
  Account account;
  const auto compute = [&](uint32_t given) {
    Context context(model, 0, "{}", &account);
    float expected = 2 + 6;
    ASSERT_TRUE(context.Set(6, Floats({1}, {2})));
    for (uint32_t i = 0; i < 6; ++i) {
      if ((given >> i & 1) == 0) continue;
      ASSERT_TRUE(context.Set(i, Floats({1}, {10})));
      expected += 9;
    }
    MustCompute(&context);
    ASSERT_EQ(MustGet(&context, 0).As<float>(), std::vector<float>{expected}) << given;
  };
  for (uint32_t given = 0; given < 12; ++given) compute(given);
  const uint64_t before = AllocatedBytes();
  for (uint32_t given = 12; given < 28; ++given) compute(given);
  EXPECT_LT(AllocatedBytes(), before + kMiB);
  EXPECT_EQ(account.used, 0u);
}

}  // namespace
}  // namespace wasinn::test
