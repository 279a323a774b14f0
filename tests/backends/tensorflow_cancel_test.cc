// Interrupting computes. The C API can only close a session, and others run in it.
#include "backends/expect.h"
#include "backends/own_clock.h"

namespace wasinn::test {
namespace {

LoadedModel Named(const Host& host, const std::string& name) {
  return {host, ModelBytes(name), {.encoding = "tensorflow", .path = ModelPath(name)}};
}

TEST(TensorFlowCancel, EndsAnEndlessCompute) {
  auto&& [host, model, context] = Opened(ModelBytes("endless.pb"), {.encoding = "tensorflow"});
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  ExpectCancellable(&context);
}

// The model's rounds are as many as its input says. While one of them cancels, none of the others takes long.
TEST(TensorFlowCancel, OthersOfTheModelGetTheirResults) {
  const Host host;
  const LoadedModel model = Named(host, "endless_saved/saved_model.pb");
  std::atomic<bool> done = false;
  Context endless(model), context(model);
  ASSERT_TRUE(endless.Set(0, Floats({1}, {1e30f})));
  std::thread canceller([&] {
    OwnClock clock;
    clock.Stop();
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      endless.Cancel();
    }
  });
  std::thread attacker([&] {
    for (int i = 0; i < 8; ++i) EXPECT_EQ(endless.Compute().code, WASINN_ERROR_TIMEOUT);
    done = true;
  });
  do {
    EXPECT_THAT(Compute(&context, {Floats({1}, {5000})}).As<float>(), ElementsAre(5000));
  } while (!done);
  attacker.join();
  canceller.join();
  EXPECT_THAT(host.log(), Not(HasSubstr("is repeated"))) << "the others ended before their session was closed";
}

// If others do not come to an end, the one that is cancelled does not wait for them: not for a second of its own time.
TEST(TensorFlowCancel, DoesNotWaitForOthersForEver) {
  const Host host;
  const LoadedModel model(host, ModelBytes("endless.pb"), {.encoding = "tensorflow"});
  Context other(model), context(model);
  ASSERT_TRUE(other.Set(0, Floats({1}, {1})));
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  const Busy busy(&other);
  // Until the two have met in one session: then the other is repeated in another session.
  while (!host.log().contains("is repeated")) {
    std::atomic<bool> ended = false;
    std::thread canceller([&] {
      for (OwnClock clock; !ended; clock.Turn(std::chrono::milliseconds(200))) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        context.Cancel();
      }
    });
    EXPECT_EQ(context.Compute().code, WASINN_ERROR_TIMEOUT);
    ended = true;
    canceller.join();
  }
  EXPECT_FALSE(busy.has_ended());
}

// A cancel does not lose the state of other contexts of the model.
TEST(TensorFlowCancel, LeavesTheStateOfOthers) {
  const Host host;
  const LoadedModel model = Named(host, "counter/saved_model.pb");
  Context context(model), other(model);
  Compute(&context, {Floats({2}, {1, 2})});
  ASSERT_TRUE(other.Set(0, Floats({2}, {3, 4})));
  ComputeUntilCancelled(&other);
  EXPECT_THAT(Compute(&context, {}).As<float>(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace wasinn::test
