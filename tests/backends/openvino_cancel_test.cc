// Interrupting computes, and what they leave behind.
#include "backends/expect.h"
#include "backends/onnx_writer.h"
#include "backends/openvino_models.h"
#include "backends/own_clock.h"

namespace wasinn::test {
namespace {

Tensor Square(int64_t side) {
  return Floats({side, side}, std::vector<float>(static_cast<size_t>(side * side), 0.01f));
}

// For a hundred products of these the model "slow" takes so long that nothing waits for it.
const Tensor& Long() {
  static const Tensor tensor = Square(1500);
  return tensor;
}

LoadedModel Slow(const Host& host) { return {host, IrXml("slow"), IrOptions("slow")}; }

// The product of x with itself, of an open shape.
std::string Product() {
  return ModelOf({.nodes = {Node("MatMul", {"x", "x"}, {"y"})},
                  .inputs = {Value("x", kFloat, {kUnknown, kUnknown})},
                  .outputs = {Value("y", kFloat, {kUnknown, kUnknown})}});
}

// With one stream of one thread, OpenVINO cannot interrupt an inference on the caller's thread.
class OpenVinoCancel : public ::testing::TestWithParam<const char*> {};

TEST_P(OpenVinoCancel, EndsALongCompute) {
  const Host host(GetParam());
  const LoadedModel model = Slow(host);
  Context context(model);
  // Short computes first: nothing may be learnt from them about long ones.
  for (int i = 0; i < 3; ++i) Compute(&context, {Square(2)});
  ASSERT_TRUE(context.Set(0, Long()));
  ExpectCancellable(&context);
  Tensor tensor;
  EXPECT_EQ(context.Get(0, &tensor).code, WASINN_ERROR_INVALID_ARGUMENT);
  // The context is as good as before, also for the shape that was computed before what was interrupted.
  Compute(&context, {Square(2)});
}

INSTANTIATE_TEST_SUITE_P(Streams, OpenVinoCancel,
                         ::testing::Values(R"({"precision": "f32"})", R"({"precision": "f32", "streams": 1})"),
                         [](const auto& test) { return test.index == 0 ? "Default" : "One"; });

// The same with fixed shapes, and several contexts at once, of which one is interrupted.
TEST(OpenVinoCancelFixed, EndsOneOfTwo) {
  const Host host(R"({"streams": 2})");
  const LoadedModel model(host, IrXml("slow_fixed"), IrOptions("slow_fixed"));
  const std::vector<Tensor> in = {Square(500)};
  Context first(model), second(model);
  const std::string want = Compute(&first, in).bytes;
  std::thread other([&] { EXPECT_EQ(Compute(&second, in).bytes, want); });
  ComputeUntilCancelled(&first);
  other.join();
  EXPECT_EQ(Compute(&first, in).bytes, want);
}

class OpenVinoCancelWaiting : public ::testing::Test {
 protected:
  const Host host_{R"({"precision": "f32"})"};
  const LoadedModel model_ = Slow(host_);
  Context first_{model_}, second_{model_};
};

// A compute that waits for another one of its model gives up, too.
TEST_F(OpenVinoCancelWaiting, EndsWhatHasNotBegun) {
  ASSERT_TRUE(first_.Set(0, Long()));
  ASSERT_TRUE(second_.Set(0, Square(2)));
  {
    const Busy busy(&first_);
    Result computed;
    while (computed) {  // until the long one has begun
      Waiter waiter(&second_);
      computed = waiter.AwaitPolls(1) ? waiter.Cancel() : waiter.Join();
    }
    EXPECT_EQ(computed.code, WASINN_ERROR_TIMEOUT) << computed.message;
    EXPECT_FALSE(busy.has_ended());
  }
  EXPECT_TRUE(second_.Compute());
}

// Even while contexts are made and discarded: for a request OpenVINO waits until the running compute has ended.
TEST_F(OpenVinoCancelWaiting, EndsWhileContextsAreMade) {
  constexpr int kMany = 1000;
  ASSERT_TRUE(first_.Set(0, Long()));
  Compute(&second_, {Square(2)});
  {
    const Busy busy(&first_);
    ComputeUntilCancelled(&second_);
    std::atomic<int> made = 0;
    std::thread maker([&] {
      for (; made < kMany; ++made) {
        const Context other(model_);
        host_.table().discard_outputs(other.get());
      }
    });
    while (made < kMany) ComputeUntilCancelled(&second_);
    maker.join();
    ExpectCancellable(&second_);
    EXPECT_FALSE(busy.has_ended());
  }
  EXPECT_TRUE(second_.Compute());
}

// One that computes without a pause keeps no other from it: those that wait get their turns in the order in which they came.
TEST(OpenVinoCancelTurns, ComeAfterOneComputeOfWhoeverCameBefore) {
  const Host host;
  const LoadedModel model(host, Product(), {});
  Context greedy(model), other(model);
  ASSERT_TRUE(other.Set(0, Square(2)));
  Compute(&greedy, {Square(400)});
  std::atomic<bool> ended = false;
  std::atomic<int> computed = 0;
  std::thread thread([&] {
    for (; !ended; ++computed) ASSERT_TRUE(greedy.Compute());
  });
  int least = INT_MAX;  // that others of it came between; more, if this thread does not come to look
  for (int i = 0; i < 10;) {
    Waiter waiter(&other);
    if (!waiter.AwaitPolls(1)) continue;
    const int before = computed;
    EXPECT_TRUE(waiter.Join());
    least = std::min(least, computed - before);
    ++i;
  }
  ended = true;
  thread.join();
  EXPECT_LE(least, 2);
}

// An inference that fails leaves nothing behind either: nor does what was compiled before stay for the contexts that
// computed with it, whether they failed or not.
TEST(OpenVinoFailure, KeepsNothingThatWasCompiledBefore) {
  const Host host;
  const uint64_t at_first = AllocatedBytes();
  const LoadedModel model = Slow(host);
  std::deque<Context> contexts;
  const std::string want = Compute(&contexts.emplace_back(model), {Square(2)}).bytes;
  const uint64_t compiled = AllocatedBytes() - at_first;
  for (int i = 0; i < 4; ++i) {
    Context& failing = contexts.emplace_back(model);
    ASSERT_TRUE(failing.Set(0, Floats({2, 3}, std::vector<float>(6, 1))));
    ASSERT_EQ(failing.Compute().code, WASINN_ERROR_RUNTIME) << "no product of 2x3 and 2x3";
    EXPECT_EQ(Compute(&contexts.emplace_back(model), {Square(2)}).bytes, want);
  }
  EXPECT_LT(AllocatedBytes() - at_first, 4 * compiled);
  // Their outputs stay, and they compute again.
  for (size_t i = 0; i < contexts.size(); i += 2) EXPECT_EQ(MustGet(&contexts[i]).bytes, want);
  for (Context& context : contexts) EXPECT_EQ(Compute(&context, {Square(2)}).bytes, want);
}

// While others' computes fail, which takes their requests away, contexts set inputs, compute and show outputs.
TEST(OpenVinoFailure, LeavesOthersAtWorkAlone) {
  const Host host;
  const LoadedModel model(host, Product(), {});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&model, t] {
      Context context(model);
      for (int i = 0; i < 16; ++i) {
        const auto side = static_cast<int64_t>(2 + (i + t) % 3);
        const auto x = static_cast<float>(i);
        ASSERT_TRUE(context.Set(0, Floats({side, side}, std::vector<float>(static_cast<size_t>(side * side), x))));
        MustCompute(&context);
        if (i % 4 == t) {
          Context failing(model);
          ASSERT_TRUE(failing.Set(0, Floats({2, 3}, std::vector<float>(6, 1))));
          ASSERT_EQ(failing.Compute().code, WASINN_ERROR_RUNTIME);
        }
        ASSERT_THAT(MustGet(&context).As<float>(), Each(x * x * static_cast<float>(side)));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(OpenVinoCancelRaces, LeaveOtherComputesAlone) {
  auto&& [host, model, context] = Opened(IrXml("mean"), IrOptions("mean"));
  Compute(&context, {Floats({1, 3, 8, 8}, std::vector<float>(192, 2))});
  std::atomic<bool> done = false;
  std::thread canceller([&] {
    while (!done) context.Cancel();
  });
  for (int i = 0; i < 500; ++i) {
    EXPECT_THAT(context.Compute().code, AnyOf(WASINN_OK, WASINN_ERROR_TIMEOUT)) << "nothing else may come of it";
  }
  done = true;
  canceller.join();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(context.Compute()) << "nothing is left of a cancellation";
}

}  // namespace
}  // namespace wasinn::test
