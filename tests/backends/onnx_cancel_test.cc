// Interrupting computes and loads.
#include "backends/expect.h"
#include "backends/onnx_writer.h"

namespace wasinn::test {
namespace {

const std::vector<Tensor> kTwoByTwo = {Floats({2, 2}, {1, 2, 3, 4}), Floats({2, 2}, {1, 1, 1, 1})};

void ExpectEndless(const Host& host, const std::string& bytes) {
  const LoadedModel model(host, bytes);
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  ExpectCancellable(&context);
}

TEST(OnnxCancel, EndsAnEndlessCompute) { ExpectEndless(Host(), ModelBytes("endless.onnx")); }

// A body of which no node is left is never asked whether to go on; then the allocator ends it.
TEST(OnnxCancel, EndsLoopsWithoutNodes) {
  const Host host;
  const auto loop = [](const std::vector<Proto>& nodes, const std::vector<Proto>& constants) {
    const Graph body = {.nodes = nodes,
                        .constants = constants,
                        .inputs = {Value("i", kInt64, {}), Value("go_in", kBool, {}), Value("v", kFloat, {1})},
                        .outputs = {Value("go", kBool, {}), Value("v", kFloat, {1})}};
    return EndlessLoop(body);
  };
  const Proto yes = Constant<bool>("go", kBool, {}, {true});
  const Proto no = Constant<bool>("no", kBool, {}, {false});
  ExpectEndless(host, loop({}, {yes}));
  ExpectEndless(host, loop({Node("Not", {"no"}, {"go"})}, {no}));
  ExpectEndless(host, loop({Node("Constant", {}, {"go"}).Add(5, TensorAttribute("value", yes))}, {}));
  ExpectEndless(host, loop({Node("Identity", {"go_in"}, {"go"})}, {}));
}

TEST(OnnxCancel, LeavesLaterComputesAlone) {
  auto&& [host, model, context] = Opened(ModelBytes("two_in_two_out.onnx"));
  Compute(&context, kTwoByTwo);
  std::atomic<bool> done = false;
  std::thread noise([&] {
    while (!done) {
      context.Cancel();
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const Result computed = context.Compute();
    ASSERT_THAT(computed.code, AnyOf(WASINN_OK, WASINN_ERROR_TIMEOUT)) << computed.message;
  }
  done = true;
  noise.join();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(context.Compute());
  EXPECT_EQ(MustGet(&context).As<float>()[3], 3);
}

TEST(OnnxCancel, LeavesOtherContextsAlone) {
  const Host host;
  const LoadedModel model(host, ModelBytes("endless.onnx")), honest(host, ModelBytes("two_in_two_out.onnx"));
  Context endless(model), good(honest);
  ASSERT_TRUE(endless.Set(0, Floats({1}, {1})));
  Compute(&good, kTwoByTwo);
  const Busy busy(&endless);
  const Watchdog watchdog(&endless);
  for (int i = 0; i < 2000 || !busy.has_ended(); ++i) ASSERT_TRUE(good.Compute());
}

// Cancelled as soon as it can be.
TEST(OnnxCancel, EndsALoad) {
  const Host host;
  int registered = 0, all = 0;
  struct Token {
    int *registered, *all;
  } token = {&registered, &all};
  LoadOptions options;
  options.token = &token;
  options.on_cancel = [](void* token, void (*cancel)(void* arg), void* arg) {
    const auto* self = static_cast<Token*>(token);
    *self->registered += cancel != nullptr ? 1 : -1;
    if (cancel == nullptr) return;
    ++*self->all;
    cancel(arg);
  };
  const Model model(host, ModelBytes("two_in_two_out.onnx"), options);
  EXPECT_EQ(registered, 0) << "still registered";
  if (all == 0) GTEST_SKIP() << "this ONNX Runtime cannot cancel a load";
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_TIMEOUT) << model.loaded().message;
}

}  // namespace
}  // namespace wasinn::test
