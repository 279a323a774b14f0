// Interrupting computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "backends/expect.h"
#include "backends/onnx_writer.h"
#include "backends/openvino_native.h"
#include "backends/taken.h"
#include "backends/test_host.h"

namespace wasinn::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Tensor Square(int64_t side) {
  return Floats({side, side}, std::vector<float>(static_cast<size_t>(side * side), 0.01f));
}

// Of x with itself, of an open shape.
std::string Product() {
  return ModelOf({.nodes = {Node("MatMul", {"x", "x"}, {"y"})},
                  .inputs = {Value("x", kFloat, {kUnknown, kUnknown})},
                  .outputs = {Value("y", kFloat, {kUnknown, kUnknown})}});
}

LoadOptions OnnxOptions() {
  LoadOptions options;
  options.encoding = "onnx";
  return options;
}

// How long the model takes on this machine when nobody interrupts it.
steady_clock::duration Alone(const Model& model, const Tensor& in) {
  Context context(model);
  EXPECT_TRUE(context.Set(0, in));
  const auto start = steady_clock::now();
  const Result computed = context.Compute();
  EXPECT_TRUE(computed) << computed.message;
  return steady_clock::now() - start;
}

// On this machine the model takes long for it.
Tensor LongEnough(const Model& model) {
  int64_t side = 500;
  while (side < 10'000 && Alone(model, Square(side)) <= milliseconds(200)) side += side / 2;
  return Square(side);
}

// Of one stream with one thread OpenVINO cannot interrupt an inference on the caller's thread.
class OpenVinoCancel : public ::testing::TestWithParam<const char*> {};

TEST_P(OpenVinoCancel, EndsALongCompute) {
  const Host host(GetParam());
  ASSERT_TRUE(host.opened()) << host.opened().message;
  const Model model(host, IrXml("slow"), IrOptions("slow"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  const Tensor large = LongEnough(model);
  Context context(model);
  // Short computes first: nothing may be learnt from them about long ones.
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(context.Set(0, Square(2)));
    ASSERT_TRUE(context.Compute());
  }
  ASSERT_TRUE(context.Set(0, large));
  for (int i = 0; i < 2; ++i) {
    const Watchdog watchdog(&context, milliseconds(50));
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_TIMEOUT) << computed.message;
    Tensor tensor;
    EXPECT_EQ(context.Get(0, &tensor).code, WASINN_INVALID_ARGUMENT);
  }
  // The context is as good as before, also for the shape that was computed before what was interrupted.
  ASSERT_TRUE(context.Set(0, Square(2)));
  const Result computed = context.Compute();
  EXPECT_TRUE(computed) << computed.message;
}

INSTANTIATE_TEST_SUITE_P(Streams, OpenVinoCancel, ::testing::Values("{}", R"({"streams": 1})"),
                         [](const auto& test) { return test.index == 0 ? "Default" : "One"; });

// The same where all shapes are fixed, with several contexts at once, of which one is interrupted.
TEST(OpenVinoCancelFixed, EndsOneOfTwo) {
  const Host host(R"({"streams": 2})");
  const Model model(host, IrXml("slow_fixed"), IrOptions("slow_fixed"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  const Tensor in = Square(500);
  Context first(model), second(model);
  ASSERT_TRUE(first.Set(0, in));
  ASSERT_TRUE(second.Set(0, in));
  Tensor want, got;
  ASSERT_TRUE(second.Compute());
  ASSERT_TRUE(second.Get(0, &want));
  Result other;
  std::thread thread([&] { other = second.Compute(); });
  {
    const Watchdog watchdog(&first, milliseconds(10));
    EXPECT_EQ(first.Compute().code, WASINN_TIMEOUT);
  }
  thread.join();
  ASSERT_TRUE(other) << other.message;
  ASSERT_TRUE(second.Get(0, &got));
  EXPECT_EQ(got.bytes, want.bytes);
  ASSERT_TRUE(first.Compute());
  ASSERT_TRUE(first.Get(0, &got));
  EXPECT_EQ(got.bytes, want.bytes);
}

// A compute that waits for another one of its model gives up, too.
TEST(OpenVinoCancelWaiting, EndsWhatHasNotBegun) {
  const Host host;
  const Model model(host, IrXml("slow"), IrOptions("slow"));
  Context first(model), second(model);
  ASSERT_TRUE(first.Set(0, Square(500)));
  ASSERT_TRUE(second.Set(0, Square(2)));
  Result long_one;
  std::atomic<bool> ended = false;
  std::thread thread([&] {
    long_one = first.Compute();
    ended = true;
  });
  // Until the long one has begun, there is nothing to wait for.
  Result computed;
  while (!ended && computed) {
    const Watchdog watchdog(&second, milliseconds(20));
    computed = second.Compute();
  }
  EXPECT_FALSE(ended);
  EXPECT_EQ(computed.code, WASINN_TIMEOUT) << computed.message;
  thread.join();
  EXPECT_TRUE(long_one) << long_one.message;
  EXPECT_TRUE(second.Compute());
}

// Also while contexts are made and discarded: for a request OpenVINO waits until the running compute has ended.
TEST(OpenVinoCancelWaiting, EndsWhileContextsAreMade) {
  constexpr int kMany = 1000;  // some may be made before the long one has begun in earnest
  const Host host;
  const Model model(host, IrXml("slow"), IrOptions("slow"));
  Context first(model), second(model);
  ASSERT_TRUE(first.Set(0, Square(1000)));
  ASSERT_TRUE(second.Set(0, Square(2)));
  ASSERT_TRUE(second.Compute());
  std::atomic<bool> ended = false;
  std::atomic<int> made = 0;
  std::thread thread([&] {
    EXPECT_EQ(first.Compute().code, WASINN_TIMEOUT);
    ended = true;
  });
  const auto wait = [&] {
    const Watchdog watchdog(&second, milliseconds(20));
    return second.Compute();
  };
  Result computed;
  while (!ended && computed) computed = wait();
  std::thread maker([&] {
    for (; made < kMany; ++made) {
      const Context other(model);
      host.table().discard_outputs(other.get());
    }
  });
  while (made < kMany && computed.code == WASINN_TIMEOUT) computed = wait();
  // Nor were they made so soon because the long one has ended.
  if (computed.code == WASINN_TIMEOUT) computed = wait();
  EXPECT_EQ(computed.code, WASINN_TIMEOUT) << computed.message;
  EXPECT_FALSE(ended);
  {
    const Watchdog watchdog(&first, milliseconds(0));
    thread.join();
  }
  maker.join();
  EXPECT_TRUE(second.Compute());
}

// Who computes without a pause keeps nobody else from it: those who wait get their turns in the order in which they came.
TEST(OpenVinoCancelWaiting, EndsAfterOneComputeOfWhoeverCameBefore) {
  constexpr int kTimes = 10;
  const Host host;
  const Model model(host, Product(), OnnxOptions());
  Context greedy(model), other(model);
  ASSERT_TRUE(greedy.Set(0, Square(400)));
  ASSERT_TRUE(other.Set(0, Square(2)));
  ASSERT_TRUE(greedy.Compute());
  std::atomic<bool> ended = false;
  std::atomic<int> computed = 0;
  std::thread thread([&] {
    for (; !ended; ++computed) ASSERT_TRUE(greedy.Compute());
  });
  while (computed == 0) std::this_thread::yield();
  int beside = 0;  // while the other one computes, or waits to
  for (int i = 0; i < kTimes; ++i) {
    const Watchdog watchdog(&other, milliseconds(10'000));
    const int before = computed;
    const Result result = other.Compute();
    beside += computed - before;
    EXPECT_TRUE(result) << result.message;
  }
  ended = true;
  thread.join();
  EXPECT_LE(beside, 4 * kTimes);
}

// An inference that fails leaves nothing behind either.
TEST(OpenVinoFailure, LeavesTheModelAsItWas) {
  const Host host;
  const Model model(host, IrXml("slow"), IrOptions("slow"));
  Context context(model);
  Tensor want, got;
  ASSERT_TRUE(context.Set(0, Square(2)));
  ASSERT_TRUE(context.Compute());
  ASSERT_TRUE(context.Get(0, &want));
  ASSERT_TRUE(context.Set(0, Floats({2, 3}, std::vector<float>(6, 1))));
  EXPECT_EQ(context.Compute().code, WASINN_RUNTIME_ERROR) << "no product of 2x3 and 2x3";
  ASSERT_TRUE(context.Set(0, Square(2)));
  const Result computed = context.Compute();
  ASSERT_TRUE(computed) << computed.message;
  ASSERT_TRUE(context.Get(0, &got));
  EXPECT_EQ(got.bytes, want.bytes);
}

// Nor does what was compiled before stay for the contexts that computed with it, whether they failed or not.
TEST(OpenVinoFailure, KeepsNothingThatWasCompiledBefore) {
  const Host host;
  const uint64_t at_first = AllocatedBytes();
  const Model model(host, IrXml("slow"), IrOptions("slow"));
  const Tensor good = Square(2), bad = Floats({2, 3}, std::vector<float>(6, 1));
  const auto compute = [](Context* context, const Tensor& in) {
    EXPECT_TRUE(context->Set(0, in));
    return context->Compute();
  };
  std::deque<Context> contexts;
  ASSERT_TRUE(compute(&contexts.emplace_back(model), good));
  const Tensor want = MustGet(&contexts.front(), 0);
  const uint64_t compiled = AllocatedBytes() - at_first;
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(compute(&contexts.emplace_back(model), bad).code, WASINN_RUNTIME_ERROR);
    ASSERT_TRUE(compute(&contexts.emplace_back(model), good));
  }
  EXPECT_LT(AllocatedBytes() - at_first, 5 * compiled);
  // Their outputs stay, and they compute again.
  for (size_t i = 0; i < contexts.size(); i += 2) EXPECT_EQ(MustGet(&contexts[i], 0).bytes, want.bytes);
  for (Context& context : contexts) {
    const Result computed = compute(&context, good);
    ASSERT_TRUE(computed) << computed.message;
    EXPECT_EQ(MustGet(&context, 0).bytes, want.bytes);
  }
}

// While others' computes fail, which takes their requests away, contexts set inputs, compute and show outputs.
TEST(OpenVinoFailure, LeavesOthersAtWorkAlone) {
  const Host host;
  const Model model(host, Product(), OnnxOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&model, t] {
      Context context(model);
      for (int i = 0; i < 40; ++i) {
        const auto side = static_cast<int64_t>(2 + (i + t) % 3);
        const auto x = static_cast<float>(i);
        ASSERT_TRUE(context.Set(0, Floats({side, side}, std::vector<float>(static_cast<size_t>(side * side), x))));
        const Result computed = context.Compute();
        ASSERT_TRUE(computed) << computed.message;
        if (i % 4 == t) {
          Context failing(model);
          ASSERT_TRUE(failing.Set(0, Floats({2, 3}, std::vector<float>(6, 1))));
          ASSERT_EQ(failing.Compute().code, WASINN_RUNTIME_ERROR);
        }
        ASSERT_THAT(MustGet(&context, 0).As<float>(), ::testing::Each(x * x * static_cast<float>(side)));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(OpenVinoCancelRaces, LeaveOtherComputesAlone) {
  const Host host;
  const Model model(host, IrXml("mean"), IrOptions("mean"));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1, 3, 8, 8}, std::vector<float>(192, 2))));
  std::atomic<bool> done = false;
  std::thread canceller([&] {
    while (!done) context.Cancel();
  });
  int cancelled = 0, succeeded = 0;
  for (int i = 0; i < 2000; ++i) {
    const Result computed = context.Compute();
    cancelled += computed.code == WASINN_TIMEOUT;
    succeeded += computed.code == WASINN_OK;
  }
  done = true;
  canceller.join();
  EXPECT_EQ(cancelled + succeeded, 2000) << "nothing else may come of it";
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(context.Compute()) << "nothing is left of a cancellation";
}

}  // namespace
}  // namespace wasinn::test
