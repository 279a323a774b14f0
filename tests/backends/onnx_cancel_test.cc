// Interrupting computes and loads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backends/expect.h"
#include "backends/onnx_writer.h"
#include "backends/test_host.h"

namespace wasinn::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::AnyOf;

void ExpectCancellable(const Model& model, const Tensor& input) {
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  ASSERT_TRUE(context.Set(0, input));
  for (int i = 0; i < 2; ++i) {
    const auto start = steady_clock::now();
    const Watchdog watchdog(&context, milliseconds(100));
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_TIMEOUT) << computed.message;
    EXPECT_LT(steady_clock::now() - start, milliseconds(3000));
  }
}

TEST(OnnxCancel, EndsAnEndlessCompute) {
  const Host host;
  ExpectCancellable(Model(host, ModelBytes("endless.onnx")), Floats({1}, {1}));
}

// A body of which no node is left is never asked whether to go on; then the allocator ends it.
TEST(OnnxCancel, EndsLoopsWithoutNodes) {
  const Host host;
  const auto loop = [](const std::vector<Proto>& nodes, const std::vector<Proto>& constants) {
    const Graph body = {.nodes = nodes,
                        .constants = constants,
                        .inputs = {Value("i", kInt64, {}), Value("go_in", kBool, {}), Value("v", kFloat, {1})},
                        .outputs = {Value("go", kBool, {}), Value("v", kFloat, {1})}};
    return ModelOf(
        {.nodes = {Node("Loop", {"rounds", "start", "x"}, {"y"}).Add(5, GraphAttribute("body", body.Write()))},
         .constants = {Constant<int64_t>("rounds", kInt64, {}, {INT64_MAX}),
                       Constant<bool>("start", kBool, {}, {true})},
         .inputs = {Value("x", kFloat, {1})},
         .outputs = {Value("y", kFloat, {1})}});
  };
  const Proto yes = Constant<bool>("go", kBool, {}, {true});
  const Proto no = Constant<bool>("no", kBool, {}, {false});
  ExpectCancellable(Model(host, loop({}, {yes})), Floats({1}, {1}));
  ExpectCancellable(Model(host, loop({Node("Not", {"no"}, {"go"})}, {no})), Floats({1}, {1}));
  ExpectCancellable(Model(host, loop({Node("Constant", {}, {"go"}).Add(5, TensorAttribute("value", yes))}, {})),
                    Floats({1}, {1}));
  ExpectCancellable(Model(host, loop({Node("Identity", {"go_in"}, {"go"})}, {})), Floats({1}, {1}));
}

TEST(OnnxCancel, LeavesLaterComputesAlone) {
  const Host host;
  const Model model(host, ModelBytes("two_in_two_out.onnx"));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2, 2}, {1, 2, 3, 4})));
  ASSERT_TRUE(context.Set(1, Floats({2, 2}, {1, 1, 1, 1})));
  std::atomic<bool> done = false;
  std::thread noise([&] {
    while (!done) {
      context.Cancel();
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const Result computed = context.Compute();
    ASSERT_THAT(computed.code, AnyOf(WASINN_OK, WASINN_TIMEOUT)) << computed.message;
  }
  done = true;
  noise.join();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(context.Compute());
  EXPECT_EQ(static_cast<const float*>(context.View(0).data)[3], 3);
}

TEST(OnnxCancel, LeavesOtherContextsAlone) {
  const Host host;
  const Model model(host, ModelBytes("endless.onnx"));
  const Model honest(host, ModelBytes("two_in_two_out.onnx"));
  Context endless(model), good(honest);
  ASSERT_TRUE(endless.Set(0, Floats({1}, {1})));
  std::thread thread([&] { EXPECT_EQ(endless.Compute().code, WASINN_TIMEOUT); });
  ASSERT_TRUE(good.Set(0, Floats({2, 2}, {1, 2, 3, 4})));
  ASSERT_TRUE(good.Set(1, Floats({2, 2}, {1, 1, 1, 1})));
  const Watchdog watchdog(&endless, milliseconds(50));
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(good.Compute());
  thread.join();
}

// Takes seconds to load: a chain of so many nodes.
std::string SlowModel() {
  constexpr int kNodes = 20000;
  Graph graph = {.inputs = {Value("v0", kFloat, {1})}, .outputs = {Value("v" + std::to_string(kNodes), kFloat, {1})}};
  for (int i = 0; i < kNodes; ++i) {
    graph.nodes.push_back(Node(i % 2 == 0 ? "Erf" : "Tanh", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)}));
  }
  return ModelOf(graph);
}

struct LoadToken {
  std::mutex mutex;
  void (*cancel)(void* arg) = nullptr;
  void* arg = nullptr;
  int registered = 0;

  static void OnCancel(void* token, void (*cancel)(void* arg), void* arg) {
    auto* self = static_cast<LoadToken*>(token);
    std::lock_guard lock(self->mutex);
    self->registered += cancel != nullptr;
    self->cancel = cancel;
    self->arg = arg;
  }
};

TEST(OnnxCancel, EndsALoad) {
  const Host host;
  LoadToken token;
  LoadOptions options;
  options.token = &token;
  options.on_cancel = LoadToken::OnCancel;
  std::atomic<bool> done = false;
  std::thread watchdog([&] {
    while (!done) {
      {
        std::lock_guard lock(token.mutex);
        if (token.cancel != nullptr) token.cancel(token.arg);
      }
      std::this_thread::sleep_for(milliseconds(2));
    }
  });
  const auto start = steady_clock::now();
  const Model model(host, SlowModel(), options);
  const auto took = steady_clock::now() - start;
  done = true;
  watchdog.join();
  EXPECT_EQ(token.cancel, nullptr) << "still registered";
  if (token.registered == 0) GTEST_SKIP() << "this ONNX Runtime cannot cancel a load";
  EXPECT_EQ(model.loaded().code, WASINN_TIMEOUT) << model.loaded().message;
  EXPECT_LT(took, milliseconds(3000));
}

}  // namespace
}  // namespace wasinn::test
