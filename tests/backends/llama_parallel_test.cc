// Conversations that are decoded together.
#include <pthread.h>

#include "backends/crashes.h"
#include "backends/expect.h"
#include "backends/llama_models.h"
#include "backends/own_clock.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

class LlamaParallel : public ::testing::TestWithParam<const char*> {};

TEST_P(LlamaParallel, EachContextGetsTheSameTokensAsAlone) {
  const Host host;
  const std::string options = GetParam();
  std::vector<std::string> expected;
  {
    const LoadedModel alone(host, LongModel(), LlamaOptions(options + "}"));
    for (size_t i = 0; i < 8; ++i) {
      Context context(alone);
      ASSERT_TRUE(SetPrompt(&context, Prompt(i)));
      expected.push_back(Complete(&context));
    }
  }
  // As many as there are places, and more.
  for (const char* parallel : {"8", "3", "1"}) {
    const LoadedModel model(host, LongModel(), LlamaOptions(options + R"(, "parallel": )" + parallel + "}"));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        Context context(model);
        EXPECT_TRUE(SetPrompt(&context, Prompt(i)));
        for (int n = 0; n < 3; ++n) EXPECT_EQ(Complete(&context), expected[i]) << i << " of " << parallel;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, LlamaParallel,
                         ::testing::Values(R"({"temp": 0, "n-predict": 48)", R"({"seed": 11, "n-predict": 48)",
                                           R"({"seed": 11, "n-predict": 20, "batch-size": 8, "ubatch-size": 8)"));

TEST(LlamaParallelSlots, AreHeldOnlyDuringAGeneration) {
  const Host host;
  const Model model(host, LongModel(), LlamaOptions(R"({"temp": 0, "n-predict": 6, "parallel": 1})"));
  Context first(model), second(model);
  ASSERT_TRUE(SetPrompt(&first, Prompt(1)));
  ASSERT_TRUE(SetPrompt(&second, Prompt(2)));
  const std::string whole = Complete(&first);
  EXPECT_EQ(Complete(&second), Complete(&second));
  // Ended early.
  ASSERT_TRUE(first.Step());
  ASSERT_TRUE(first.Finish());
  EXPECT_TRUE(second.Compute());
  // By itself.
  while (first.Step()) {
  }
  EXPECT_EQ(Written(&first), whole);
  EXPECT_TRUE(second.Step()) << "the first one is not finished, but it has ended";
  ASSERT_TRUE(second.Finish());
  // Freed while it generates.
  ASSERT_TRUE(first.Finish());
  {
    Context third(model);
    ASSERT_TRUE(SetPrompt(&third, Prompt(3)));
    ASSERT_TRUE(third.Step());
  }
  EXPECT_EQ(Complete(&first), whole);
  // While one holds it, another waits until it is cancelled.
  ASSERT_TRUE(first.Step());
  Waiter waiter(&second);
  EXPECT_TRUE(waiter.AwaitPolls(3));
  EXPECT_EQ(waiter.Cancel().code, WASINN_ERROR_TIMEOUT);
  while (first.Step()) {
  }
  EXPECT_EQ(Written(&first), whole) << "nothing happened to the other one";
  ASSERT_TRUE(first.Finish());
  EXPECT_TRUE(second.Compute());
}

TEST(LlamaParallelSlots, KeepTokensOnlyForTheirHolder) {
  const Host host;
  const Model model(host, LongModel(), LlamaOptions(R"({"temp": 0, "n-predict": 6, "parallel": 2})"));
  Context first(model), second(model), third(model);
  for (Context* context : {&first, &second, &third}) ASSERT_TRUE(SetPrompt(context, Prompt(4)));
  const auto evaluated = [](Context* context) -> uint64_t {
    EXPECT_TRUE(context->Compute());
    return Metadata(context)["evaluated_tokens"];
  };
  const uint64_t all = Metadata(&first)["input_tokens"];
  EXPECT_EQ(evaluated(&first), all);
  EXPECT_EQ(evaluated(&first), 1u);
  EXPECT_EQ(evaluated(&second), all) << "what another one has evaluated is its own";
  EXPECT_EQ(evaluated(&first), 1u);
  EXPECT_EQ(evaluated(&third), all);
  EXPECT_EQ(evaluated(&first), 1u) << "the third one has taken the place that was used longest ago";
}

// For all guests: none of the last used texts, as many as there are slots, is evaluated again.
TEST(LlamaParallelSlots, KeepTheLastUsedTexts) {
  const Host host;
  const Model model(host, LongModel(), LlamaOptions(R"({"temp": 0, "n-predict": 3, "parallel": 2})"));
  Account guests[2];
  std::deque<Context> chats;
  for (size_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(SetPrompt(&chats.emplace_back(model, 0, "{}", &guests[i % 2]), Prompt(4 + i)));
  }
  std::mt19937 random(1);
  std::deque<size_t> last;
  int recent = 0, lost = 0;
  for (int i = 0; i < 120; ++i) {
    const size_t chat = random() % chats.size();
    ASSERT_TRUE(chats[chat].Compute());
    const bool is_kept = Metadata(&chats[chat])["evaluated_tokens"] == 1;
    const bool is_recent = std::erase(last, chat) > 0;
    recent += is_recent ? 1 : 0;
    lost += is_recent && !is_kept ? 1 : 0;
    last.push_back(chat);
    if (last.size() > 2) last.pop_front();
  }
  EXPECT_GT(recent, 20);
  EXPECT_EQ(lost, 0) << "of " << recent;
}

TEST(LlamaParallelSlots, ACancelDoesNotAffectOthers) {
  const Host host;
  const std::string config = R"({"temp": 0, "n-predict": 200, "parallel": 4})";
  const Model model(host, LongModel(), LlamaOptions(config));
  std::string expected[3];
  std::vector<std::unique_ptr<Context>> contexts;
  for (size_t i = 0; i < 4; ++i) {
    contexts.push_back(std::make_unique<Context>(model));
    ASSERT_TRUE(SetPrompt(contexts[i].get(), Prompt(i)));
    if (i < 3) expected[i] = Complete(contexts[i].get());
  }
  ASSERT_TRUE(SetOptions(contexts[3].get(), kWithoutEnd));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 3; ++n) EXPECT_EQ(Complete(contexts[i].get()), expected[i]);
    });
  }
  for (int n = 0; n < 3; ++n) ExpectCancellable(contexts[3].get());
  for (std::thread& thread : threads) thread.join();
}

// A context that holds an idle place loses it to one that waits, and goes on later as if nothing had happened.
TEST(LlamaParallelSlots, AreTakenBackFromIdleHolders) {
  const Host host;
  const Model model(host, LongModel(), LlamaOptions(R"({"temp": 0, "n-predict": 12, "parallel": 1})"));
  Context first(model), second(model);
  ASSERT_TRUE(SetPrompt(&first, Prompt(1)));
  const std::string whole = Complete(&first), other = Complete(&second, Prompt(2));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(first.Step());
  Waiter waiter(&second);
  EXPECT_TRUE(waiter.AwaitPolls(1));
  waiter.clock().Turn(std::chrono::seconds(3));
  EXPECT_TRUE(waiter.Join());
  EXPECT_EQ(Written(&second), other);
  while (first.Step()) {
  }
  EXPECT_EQ(Written(&first), whole);
  ASSERT_TRUE(first.Finish());
  EXPECT_EQ(Complete(&second), other);
}

bool ComputeBesideASlowOne(const std::string& bytes) {
  const Host host;
  const LoadedModel model(host, bytes, LlamaOptions(R"({"temp": 0, "n-predict": 6, "parallel": 2})"));
  Context slow(model), other(model);
  if (!SetPrompt(&slow, "the hen") || !SetPrompt(&other, "the hen")) return false;
  // A token of 60 letters can be begun in twice as many ways with each of them, and no way leads to its end.
  if (!SetOptions(&slow, R"({"grammar": "root ::= \"e\" root \"x\" | \"e\" root \"y\" | \"b\""})")) return false;
  std::atomic<bool> done = false, all_too_large = true;
  std::atomic<int> times = 0;
  std::thread thread([&] {
    for (; !done; ++times) all_too_large = all_too_large && slow.Compute().code == WASINN_ERROR_TOO_LARGE;
  });
  const std::string expected = Complete(&other);
  bool all_equal = true;
  for (int i = 0; i < 20 || times < 3; ++i) all_equal = all_equal && Complete(&other) == expected;
  done = true;
  thread.join();
  return all_equal && all_too_large;
}

TEST(LlamaParallelSlots, ASlowGrammarDoesNotDelayOthers) {
  GgufWriter writer = TinyLlamaWriter();
  std::vector<std::string> tokens = TinyVocabulary();
  tokens.back() = std::string(60, 'e') + "q";
  writer.SetTexts("tokenizer.ggml.tokens", tokens);
  Crashes crashes(ComputeBesideASlowOne);
  crashes.Try("a slow grammar", writer.Write());
  crashes.ExpectNone();
  EXPECT_EQ(crashes.taken(), 1u) << "all were as they would have been";
}

// With models whose memory cannot forget a part, texts are evaluated again.
TEST(LlamaParallelSlots, WorkWithMemoriesThatCannotLoseAPart) {
  std::vector<std::string> expected;
  for (const std::string& config :
       {std::string("{}"), R"({"library": ")" + testing::InThisBuild("lib/libllama_shim_whole.so") + "\"}"}) {
    const Host host(config);
    ASSERT_TRUE(host.opened()) << host.opened().message;
    const Model model(host, LongModel(), LlamaOptions(R"({"temp": 0, "n-predict": 8, "parallel": 2})"));
    Context context(model);
    std::vector<std::string> texts;
    for (const size_t length : {6, 4, 6, 2, 8}) {
      ASSERT_TRUE(SetPrompt(&context, Prompt(length)));
      texts.push_back(Complete(&context));
    }
    if (expected.empty()) expected = texts;
    EXPECT_EQ(texts, expected);
  }
}

TEST(LlamaParallelSlots, HaveLimits) {
  const Host host;
  LoadOptions options = LlamaOptions(R"({"parallel": 64, "ctx-size": 1048576})");
  options.max_bytes = 1 << 26;
  const Model large(host, LongModel(), options);
  EXPECT_EQ(large.loaded().code, WASINN_ERROR_TOO_LARGE) << large.loaded().message;
  const Model model(host, LongModel(), LlamaOptions(R"({"parallel": 2, "ctx-size": 40, "temp": 0})"));
  Context context(model), embedding(model);
  EXPECT_EQ(ComputeOn(&context, "the hen").code, WASINN_ERROR_CONTEXT_FULL);
  const int all = Metadata(&context)["output_tokens"].get<int>();
  EXPECT_EQ(ComputeWith(&context, R"({"ctx-size": 41})").code, WASINN_ERROR_CONTEXT_FULL);
  EXPECT_EQ(Metadata(&context)["output_tokens"], all) << "the host says the size";
  EXPECT_EQ(ComputeWith(&context, R"({"ctx-size": 20})").code, WASINN_ERROR_CONTEXT_FULL);
  EXPECT_EQ(Metadata(&context)["output_tokens"], 21 - Metadata(&context)["input_tokens"].get<int>());
  EXPECT_TRUE(Ask(&embedding, "the hen", R"({"embedding": true})"));
}

}  // namespace
}  // namespace wasinn::test
