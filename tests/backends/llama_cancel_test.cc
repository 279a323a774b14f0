// Interrupting generations, limits of memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backends/expect.h"
#include "backends/llama_guest.h"

namespace wasinn::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

// Large enough that a prompt of some hundred tokens takes a while.
const std::string& LargeBytes() {
  static const std::string bytes =
      TinyLlamaWriter({.embedding = 512, .layers = 8, .heads = 8, .kv_heads = 4, .feed_forward = 1024, .context = 4096})
          .Write();
  return bytes;
}

const std::string& SmallBytes() {
  static const std::string bytes = TinyLlamaWriter({.context = 8192}).Write();
  return bytes;
}

milliseconds Since(steady_clock::time_point start) {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
}

TEST(LlamaCancel, EndsTheEvaluationOfAPrompt) {
  const Host host;
  const Model model(host, LargeBytes(), LlamaOptions(R"({"n-predict": 1, "temp": 0, "threads": 1})"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  std::string prompt;
  for (int i = 0; i < 1000; ++i) prompt += "a,"[i % 2];
  ASSERT_TRUE(SetPrompt(&context, "a"));
  ASSERT_TRUE(context.Compute()) << "the context is made";
  ASSERT_TRUE(SetPrompt(&context, prompt));
  const auto start = steady_clock::now();
  {
    const Watchdog watchdog(&context, milliseconds(20));
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_TIMEOUT) << computed.message;
  }
  const milliseconds cancelled = Since(start);
  Tensor completion;
  EXPECT_EQ(context.Get(kCompletion, &completion).code, WASINN_INVALID_ARGUMENT) << "there are no outputs";
  const auto again = steady_clock::now();
  ASSERT_TRUE(context.Compute()) << "and the inputs are as they were";
  EXPECT_LT(cancelled, Since(again) / 2) << "within one batch, of which this prompt is one";
}

TEST(LlamaCancel, EndsAGenerationBetweenTokens) {
  const Host host;
  const Model model(host, SmallBytes(), LlamaOptions(R"({"temp": 0, "ctx-size": 8192})"));
  Context context(model);
  ASSERT_TRUE(SetPrompt(&context, "the hen"));
  for (int i = 0; i < 3; ++i) {
    const Watchdog watchdog(&context, milliseconds(30));
    const auto start = steady_clock::now();
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_TIMEOUT) << computed.message;
    EXPECT_LT(Since(start), milliseconds(2000));
  }
  // Too early or too late: no effect.
  ASSERT_TRUE(SetOptions(&context, R"({"n-predict": 4})"));
  context.Cancel();
  EXPECT_TRUE(context.Compute());
  context.Cancel();
  EXPECT_TRUE(context.Compute());
  context.Cancel();
  EXPECT_TRUE(context.Step());
  context.Cancel();
  EXPECT_TRUE(context.Step());
}

TEST(LlamaCancel, EndsAStep) {
  const Host host;
  const Model model(host, LargeBytes(), LlamaOptions(R"({"n-predict": 4, "temp": 0, "threads": 1})"));
  Context context(model);
  std::string prompt(400, 'a');
  ASSERT_TRUE(SetPrompt(&context, prompt));
  {
    const Watchdog watchdog(&context, milliseconds(10));
    const Result step = context.Step();
    EXPECT_EQ(step.code, WASINN_TIMEOUT) << step.message;
  }
  std::string piece;
  EXPECT_EQ(context.Piece(kCompletion, &piece).code, WASINN_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Step()) << "the next one begins anew";
  EXPECT_TRUE(context.Piece(kCompletion, &piece));
}

TEST(LlamaCancel, EndsALoad) {
  const Host host;
  struct Token {
    std::atomic<int> registered{0};
  } token;
  LoadOptions options = LlamaOptions();
  options.token = &token;
  options.on_cancel = [](void* self, void (*cancel)(void*), void* arg) {
    if (cancel == nullptr) return;
    ++static_cast<Token*>(self)->registered;
    cancel(arg);
  };
  const Model model(host, LargeBytes(), options);
  EXPECT_EQ(token.registered, 1);
  EXPECT_EQ(model.loaded().code, WASINN_TIMEOUT) << model.loaded().message;
}

TEST(LlamaLimits, MemoryOfAContextIsCheckedBeforeItIsThere) {
  const Host host;
  const Model model(host, LargeBytes(), LlamaOptions(R"({"ctx-size": 4096})"));
  Context context(model, 16 << 20);  // the KV cache alone is 32 MiB
  ASSERT_TRUE(SetPrompt(&context, "the"));
  for (int i = 0; i < 2; ++i) {
    const Result computed = context.Compute();
    EXPECT_EQ(computed.code, WASINN_TOO_LARGE) << computed.message;
    EXPECT_THAT(computed.message, HasSubstr("ctx-size"));
  }
  ASSERT_TRUE(SetOptions(&context, R"({"ctx-size": 256, "n-predict": 4})"));
  const Result computed = context.Compute();
  EXPECT_TRUE(computed) << computed.message;
}

}  // namespace
}  // namespace wasinn::test
