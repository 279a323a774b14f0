// Long prompts next to guests that generate.
#include "backends/expect.h"
#include "backends/llama_models.h"
#include "backends/own_clock.h"

namespace wasinn::test {
namespace {

constexpr size_t kWords = 150;  // of a prompt, which has some 1,000 tokens

std::string PrefillConfig(const char* places) {
  return R"({"temp": 0, "n-predict": 6, "ctx-size": 4096, "parallel": )" + std::string(places) + "}";
}

class LlamaPrefill : public ::testing::Test {
 protected:
  explicit LlamaPrefill(const char* places = "3")
      : alone_(host_, Memory(), LlamaOptions(PrefillConfig("0"))),
        model_(host_, Memory(), LlamaOptions(PrefillConfig(places))) {
    EXPECT_TRUE(SetPrompt(&generating_, Prompt(1)));
  }

  static std::string Memory() {
    return TinyLlamaWriter({.embedding = 8, .layers = 1, .heads = 2, .kv_heads = 1, .feed_forward = 8, .context = 4096})
        .Write();
  }
  std::string Expected(const std::string& prompt) {
    Context context(alone_);
    std::string completion = Complete(&context, prompt);
    EXPECT_FALSE(completion.starts_with("error")) << completion;
    return completion;
  }

  const Host host_;
  const LoadedModel alone_, model_;
  Account greedy_, modest_;
  Context generating_{model_, 0, kWithoutEnd, &greedy_};
};

class LlamaPrefillOfTwo : public LlamaPrefill {
 protected:
  LlamaPrefillOfTwo() : LlamaPrefill("2") {}
};

// Two by turns, and each after a text of which it has a beginning.
TEST_F(LlamaPrefill, GivesTheSameTokensAsAlone) {
  const std::string prompts[] = {Prompt(kWords), Prompt(2 * kWords), Prompt(2 * kWords) + " oats" + Prompt(kWords)};
  std::vector<std::string> expected;
  for (const std::string& prompt : prompts) expected.push_back(Expected(prompt));
  ASSERT_TRUE(generating_.Step());
  const Busy busy(&generating_);
  std::deque<Context> contexts;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    Context& context = contexts.emplace_back(model_);
    threads.emplace_back([&] {
      for (size_t n = 0; n < 3; ++n) EXPECT_EQ(Complete(&context, prompts[n]), expected[n]) << n;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(busy.has_ended());
}

// However large its parts are: others' tokens come between their operations.
TEST_F(LlamaPrefillOfTwo, DecodesOthersTokensBetweenItsOperations) {
  const std::string prompt = Prompt(kWords);
  Context slow(model_);
  size_t tokens = 0, parts = 0;
  while (tokens <= 2 * parts) {
    ASSERT_TRUE(generating_.Step());
    ASSERT_TRUE(SetPrompt(&slow, "oats"));
    ASSERT_TRUE(slow.Compute());
    ASSERT_TRUE(SetPrompt(&slow, prompt));
    parts = Metadata(&slow)["input_tokens"].get<size_t>() / 64;
    std::atomic<bool> has_token = false;
    std::thread reader([&] {
      EXPECT_TRUE(slow.Step());
      has_token = true;
    });
    for (tokens = 0; !has_token; ++tokens) EXPECT_TRUE(generating_.Step());
    reader.join();
    ASSERT_TRUE(slow.Finish());
  }
}

TEST_F(LlamaPrefillOfTwo, CanBeCancelled) {
  Context slow(model_);
  const std::string prompt = Prompt(kWords), expected = Expected(prompt);
  const Busy busy(&generating_);
  ASSERT_TRUE(SetPrompt(&slow, Prompt(4 * kWords)));
  ExpectCancellable(&slow);
  EXPECT_EQ(Complete(&slow, prompt), expected);
  EXPECT_FALSE(busy.has_ended());
}

// Its place is lost to another guest in its midst, and it goes on later.
TEST_F(LlamaPrefillOfTwo, ContinuesAfterItsSlotIsLost) {
  const std::string prompt = Prompt(2 * kWords), expected = Expected(prompt);
  Context slow(model_, 0, "{}", &greedy_), other(model_, 0, "{}", &modest_);
  ASSERT_TRUE(SetPrompt(&other, Prompt(2)));
  ASSERT_TRUE(SetPrompt(&slow, prompt));
  ASSERT_TRUE(generating_.Step());
  const Busy busy(&generating_);
  std::atomic<bool> has_ended = false;
  std::thread reader([&] {
    EXPECT_EQ(Complete(&slow), expected);
    has_ended = true;
  });
  OwnClock ahead;  // places are due whenever it comes
  ahead.Turn(std::chrono::seconds(3));
  while (!has_ended) EXPECT_TRUE(other.Compute());
  reader.join();
  EXPECT_FALSE(busy.has_ended());
}

}  // namespace
}  // namespace wasinn::test
