// Interrupting computes. The C API can only close a session, and others run in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backends/expect.h"
#include "backends/test_host.h"

namespace wasinn::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;

TEST(TensorFlowCancel, EndsAnEndlessCompute) {
  const Host host;
  const Model model(host, ModelBytes("endless.pb"), {.encoding = "tensorflow"});
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
  const LoadOptions options = {.encoding = "tensorflow", .path = ModelPath("endless_saved/saved_model.pb")};
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
  ASSERT_TRUE(context.Set(0, Floats({1}, {5000})));
  int computes = 0;
  size_t slow = 0;  // that take about so long that the other does not wait for them
  do {
    const auto start = steady_clock::now();
    const Result computed = context.Compute();
    ASSERT_TRUE(computed) << computed.message;
    if (steady_clock::now() - start > milliseconds(900)) ++slow;
    Tensor y;
    ASSERT_TRUE(context.Get(0, &y));
    ASSERT_THAT(y.As<float>(), ElementsAre(5000));
    ++computes;
  } while (!done);
  attacker.join();
  EXPECT_GT(computes, 0);
  // The others ended before the attacker's session was closed.
  const std::string log = host.log();
  size_t repeated = 0;
  for (size_t at = log.find("is repeated"); at != std::string::npos; at = log.find("is repeated", at + 1)) ++repeated;
  EXPECT_LE(repeated, 2 * slow);
}

// Where others do not come to an end, the one that is cancelled does not wait for them.
TEST(TensorFlowCancel, DoesNotWaitForOthersForEver) {
  const Host host;
  const Model model(host, ModelBytes("endless.pb"), {.encoding = "tensorflow"});
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context other(model), context(model);
  ASSERT_TRUE(other.Set(0, Floats({1}, {1})));
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  std::thread endless([&] { EXPECT_EQ(other.Compute().code, WASINN_TIMEOUT); });
  // Until the two have met in one session: then the other is begun anew, elsewhere.
  while (host.log().find("is repeated") == std::string::npos) {
    const Watchdog watchdog(&context, milliseconds(100));
    EXPECT_EQ(context.Compute().code, WASINN_TIMEOUT);
  }
  std::atomic<bool> ended = false;
  std::thread ender([&] {
    while (!ended) other.Cancel();
  });
  endless.join();
  ended = true;
  ender.join();
}

// What a model with state has assigned is not lost for others.
TEST(TensorFlowCancel, LeavesTheStateOfOthers) {
  const Host host;
  const LoadOptions options = {.encoding = "tensorflow", .path = ModelPath("counter/saved_model.pb")};
  const Model model(host, ModelBytes("counter/saved_model.pb"), options);
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  MustCompute(&context);
  Context other(model);
  ASSERT_TRUE(other.Set(0, Floats({2}, {3, 4})));
  std::atomic<bool> done = false;
  std::thread ender([&] {
    while (!done) other.Cancel();
  });
  bool cancelled = false;
  while (!cancelled) cancelled = other.Compute().code == WASINN_TIMEOUT;
  done = true;
  ender.join();
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context, 0).As<float>(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace wasinn::test
