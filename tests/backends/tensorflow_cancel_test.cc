// Interrupting computes. The C API can only close a session, so others that run in it are repeated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backends/driver.h"
#include "backends/expect.h"

namespace wasinn::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;

TEST(TensorFlowCancel, EndsAnEndlessCompute) {
  const Host host;
  const Model model(host, ModelBytes("endless.pb"), {.encoding = WASINN_TENSORFLOW});
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  for (int i = 0; i < 2; ++i) {
    const Watchdog watchdog(&context, milliseconds(100));
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_TIMEOUT) << computed.message;
  }
}

// The model's rounds are as many as its input says.
TEST(TensorFlowCancel, OthersOfTheModelGetTheirResults) {
  const Host host;
  const LoadOptions options = {.encoding = WASINN_TENSORFLOW, .path = ModelPath("endless_saved/saved_model.pb")};
  const Model model(host, ModelBytes("endless_saved/saved_model.pb"), options);
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  std::atomic<bool> done = false;
  std::thread attacker([&] {
    Context endless(model);
    ASSERT_TRUE(endless.Set(0, Floats({1}, {1e30f})));
    for (int i = 0; i < 8; ++i) {
      const Watchdog watchdog(&endless, milliseconds(30));
      EXPECT_EQ(endless.Compute().code, WASINN_TIMEOUT);
    }
    done = true;
  });
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1}, {20000})));  // longer than the others' deadline
  int computes = 0;
  do {
    const Result computed = context.Compute();
    ASSERT_TRUE(computed) << computed.message;
    Tensor y;
    ASSERT_TRUE(context.Get(0, &y));
    ASSERT_THAT(y.As<float>(), ElementsAre(20000));
    ++computes;
  } while (!done);
  attacker.join();
  EXPECT_GT(computes, 0);
}

TEST(TensorFlowCancel, HasNoEffectOnTheNextCompute) {
  const Host host;
  const Model model(host, ModelBytes("dynamic.pb"), {.encoding = WASINN_TENSORFLOW});
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1, 1}, {1})));
  context.Cancel();
  const Result computed = context.Compute();
  EXPECT_TRUE(computed) << computed.message;
  context.Cancel();
  EXPECT_TRUE(context.Compute());
}

}  // namespace
}  // namespace wasinn::test
