// Guests that choose the tokens themselves: logits, going back, branches.
#include "backends/expect.h"
#include "backends/llama_decoder.h"
#include "backends/llama_models.h"

namespace wasinn::test {
namespace {

constexpr size_t kVocabulary = 288;
const std::string kDecodedText = "the hen ate the oats, and the other one";

// The model's own greedy choice, by llama.cpp's loop.
NativeCompletion Expected(const std::string& text, int32_t n) {
  return NativeWide().Complete(text, {.predict = n, .temperature = 0});
}

void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  // llama.cpp adds up in another order for one token than for several, and in float16; how, depends on the processor. The
  // logits of another token differ by whole numbers.
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 5e-3) << i;
}

// Alone, and of those that share a llama context.
class LlamaDecode : public ::testing::TestWithParam<const char*> {
 protected:
  const Host host_;
  const LoadedModel model_{host_, WideModel(),
                           LlamaOptions(std::string(R"({"temp": 0, "parallel": )") + GetParam() + "}")};
  Account guest_, other_;
  const Tokens text_ = NativeWide().Tokenize(kDecodedText);
};

INSTANTIATE_TEST_SUITE_P(Parallel, LlamaDecode, ::testing::Values("0", "2"));

// The option says what the prompt is, the input what comes behind it.
TEST_P(LlamaDecode, TokensFollowAPromptOfTokens) {
  Context context(model_), whole(model_);
  ASSERT_TRUE(Decode(&whole, text_));
  const auto half = text_.begin() + static_cast<ptrdiff_t>(text_.size() / 2);
  ASSERT_TRUE(SetPrompt(&context, json(Tokens(text_.begin(), half)).dump()));
  const Result decoded = Decode(&context, Tokens(half, text_.end()), {{"tokens", true}});
  ASSERT_TRUE(decoded) << decoded.message;
  EXPECT_EQ(DecodeReport(&context)["n_tokens"], text_.size());
  EXPECT_EQ(DecodeReport(&context)["n_prompt"], text_.size() / 2);
  ExpectNear(LogitsOf(&context), LogitsOf(&whole));
}

TEST_P(LlamaDecode, ChoosesTheTokensThatTheBackendWould) {
  const NativeCompletion expected = Expected(kDecodedText, 24);
  ASSERT_EQ(expected.tokens.size(), 24u);
  ASSERT_EQ(expected.prompt, text_);
  Context context(model_);
  EXPECT_EQ(DecodeGreedily(&context, text_, 24), expected.tokens);
  EXPECT_EQ(DecodeReport(&context)["n_evaluated"], 1) << "no more than the newest token";
  // The text as it is, and behind it what was chosen.
  Context with_prompt(model_);
  ASSERT_TRUE(SetPrompt(&with_prompt, kDecodedText));
  EXPECT_EQ(DecodeGreedily(&with_prompt, {}, 24), expected.tokens);
  EXPECT_EQ(DecodeReport(&with_prompt)["n_prompt"], text_.size());
  EXPECT_EQ(DecodeReport(&with_prompt)["n_tokens"], text_.size() + 23);
  EXPECT_EQ(DecodeReport(&with_prompt)["end_tokens"], json::array({2}));
  EXPECT_EQ(Metadata(&with_prompt)["input_tokens"], text_.size() + 23);
  // And the backend's own, in the same context.
  EXPECT_EQ(CompleteWith(&with_prompt, R"({"n-predict": 24})"), Characters(expected.bytes));
  EXPECT_EQ(LogitsOf(&with_prompt).size(), 0u) << "which were not asked for";
  EXPECT_EQ(LogitTokensOf(&with_prompt).size(), 0u);
}

TEST_P(LlamaDecode, GivesTheHighestLogits) {
  Context context(model_);
  ASSERT_TRUE(Decode(&context, text_));
  const std::vector<float> all = LogitsOf(&context);
  ASSERT_EQ(all.size(), kVocabulary);
  EXPECT_EQ(LogitTokensOf(&context).size(), 0u);
  double sum = 0;
  for (const float logit : all) sum += std::exp(logit);
  for (const size_t k : {size_t{1}, size_t{7}, kVocabulary}) {
    ASSERT_TRUE(Decode(&context, text_, {{"top-logits", k}}));
    const std::vector<float> top = LogitsOf(&context);
    const Tokens tokens = LogitTokensOf(&context);
    ASSERT_EQ(top.size(), k);
    ASSERT_EQ(tokens.size(), k);
    EXPECT_EQ(tokens.front(), Likeliest(all));
    for (size_t i = 0; i < k; ++i) {
      EXPECT_NEAR(top[i], all[static_cast<size_t>(tokens[i])], 1e-3);
      EXPECT_LE(top[i], top[i == 0 ? 0 : i - 1]);
    }
    EXPECT_EQ(std::set<int32_t>(tokens.begin(), tokens.end()).size(), k);
    ASSERT_EQ(DecodeReport(&context)["log_sums"].size(), 1u);
    EXPECT_NEAR(double(DecodeReport(&context)["log_sums"][0]), std::log(sum), 1e-3);
  }
}

TEST_P(LlamaDecode, GivesTheLogitsOfManyTokens) {
  std::vector<float> one_by_one;
  Context context(model_), whole(model_);
  for (size_t n = 1; n <= text_.size(); ++n) {
    ASSERT_TRUE(Decode(&context, {text_.begin(), text_.begin() + static_cast<ptrdiff_t>(n)}));
    EXPECT_EQ(DecodeReport(&context)["n_evaluated"], 1);
    const std::vector<float> row = LogitsOf(&context);
    one_by_one.insert(one_by_one.end(), row.begin(), row.end());
  }
  ASSERT_TRUE(Decode(&whole, text_, {{"position", 0}}));
  ExpectNear(LogitsOf(&whole), one_by_one);
  // The last three; the others are held.
  const size_t last = text_.size() - 3;
  ASSERT_TRUE(Decode(&whole, text_, {{"position", last}}));
  EXPECT_EQ(DecodeReport(&whole)["n_evaluated"], 3);
  ExpectNear(LogitsOf(&whole), {one_by_one.begin() + static_cast<ptrdiff_t>(last * kVocabulary), one_by_one.end()});
  ASSERT_TRUE(Decode(&whole, text_, {{"position", last}, {"top-logits", 2}}));
  const Tensor tokens = MustGet(&whole, kLogitTokens);
  EXPECT_EQ(tokens.dims, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(DecodeReport(&whole)["log_sums"].size(), 3u);
  // A single one again, in what has room for more.
  ASSERT_TRUE(Decode(&whole, text_));
  EXPECT_EQ(DecodeReport(&whole)["n_evaluated"], 1);
  ExpectNear(LogitsOf(&whole), {one_by_one.end() - static_cast<ptrdiff_t>(kVocabulary), one_by_one.end()});
}

// More rows than a batch of llama.cpp has logits for.
TEST_P(LlamaDecode, GivesTheLogitsOfALongText) {
  Tokens text;
  for (int i = 0; i < 10; ++i) text.insert(text.end(), text_.begin(), text_.end());
  ASSERT_GT(text.size(), 200u);
  Context context(model_), plain(model_);
  ASSERT_TRUE(Decode(&context, text, {{"position", 1}, {"top-logits", 1}}));
  const Tokens likeliest = LogitTokensOf(&context);
  ASSERT_EQ(likeliest.size(), text.size() - 1);
  for (const size_t at : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{150}, text.size() - 1}) {
    ASSERT_TRUE(Decode(&plain, {text.begin(), text.begin() + static_cast<ptrdiff_t>(at) + 1}));
    EXPECT_EQ(Likeliest(LogitsOf(&plain)), likeliest[at - 1]) << at;
  }
}

TEST_P(LlamaDecode, GoesBackToAPosition) {
  Context context(model_), fresh(model_);
  const Tokens greedy = DecodeGreedily(&context, text_, 8);
  Tokens other(text_.begin(), text_.begin() + 10);
  other.push_back(text_[3]);
  ASSERT_TRUE(Decode(&context, other));
  EXPECT_EQ(DecodeReport(&context)["n_evaluated"], 1) << "the first ten are held";
  const std::vector<float> again = LogitsOf(&context);
  ASSERT_TRUE(Decode(&fresh, other));
  EXPECT_EQ(DecodeReport(&fresh)["n_evaluated"], 11);
  ExpectNear(again, LogitsOf(&fresh));
  // To what was there before, whose end is gone.
  EXPECT_EQ(DecodeGreedily(&context, text_, 8), greedy);
  // Held ones are not used where they shall not be.
  ASSERT_TRUE(Decode(&context, other, {{"cache-prompt", false}}));
  EXPECT_EQ(DecodeReport(&context)["n_evaluated"], 11);
}

TEST_P(LlamaDecode, BranchesIntoOtherContexts) {
  const NativeCompletion expected = Expected(kDecodedText, 12);
  Context first(model_, 0, "{}", &guest_), second(model_, 0, "{}", &guest_), theirs(model_, 0, "{}", &other_);
  ASSERT_TRUE(Decode(&first, text_, {{"save-state", "here"}}));
  const uint64_t with_one = guest_.used;
  EXPECT_EQ(Metadata(&first)["states"][0]["tokens"], text_.size());
  EXPECT_EQ(DecodeGreedily(&second, text_, 12, {{"restore-state", "here"}}), expected.tokens);
  Context third(model_, 0, "{}", &guest_);
  Tokens earlier(text_.begin(), text_.begin() + 12);
  earlier.push_back(text_[2]);
  ASSERT_TRUE(Decode(&third, earlier, {{"restore-state", "here"}}));
  EXPECT_EQ(DecodeReport(&third)["n_evaluated"], 1) << "from a position within it";
  EXPECT_EQ(Metadata(&third)["restored_tokens"], 12);
  // Two continuations of one text, in turns.
  Tokens left = text_, right = text_;
  left.push_back(expected.tokens[0]);
  right.push_back(text_[5]);
  ASSERT_TRUE(Decode(&first, left, {{"save-state", "left"}}));
  ASSERT_TRUE(Decode(&first, right, {{"save-state", "right"}}));
  EXPECT_EQ(DecodeReport(&first)["n_evaluated"], 1);
  left.push_back(expected.tokens[1]);
  ASSERT_TRUE(Decode(&first, left, {{"restore-state", "left"}}));
  EXPECT_EQ(DecodeReport(&first)["n_evaluated"], 1);
  EXPECT_EQ(Likeliest(LogitsOf(&first)), expected.tokens[2]);
  EXPECT_GT(guest_.used, with_one) << "a branch that is kept is paid for";
  // No other guest has them.
  const Result refused = Decode(&theirs, text_, {{"restore-state", "here"}});
  EXPECT_EQ(refused.code, WASINN_ERROR_NOT_FOUND) << refused.message;
  ASSERT_TRUE(Decode(&theirs, text_));
  EXPECT_EQ(DecodeReport(&theirs)["n_evaluated"], text_.size());
}

// A generation, an embedding and a chat in between cost time, and change nothing.
TEST_P(LlamaDecode, IsNotDisturbedByOtherComputes) {
  const NativeCompletion expected = Expected(kDecodedText, 12);
  Context context(model_);
  Tokens text = text_;
  for (size_t i = 0; i < 12; ++i) {
    ASSERT_TRUE(Decode(&context, text));
    ASSERT_EQ(Likeliest(LogitsOf(&context)), expected.tokens[i]) << i;
    text.push_back(expected.tokens[i]);
    ASSERT_TRUE(Ask(&context, "oats",
                    i % 3 == 0   ? R"({"n-predict": 3})"
                    : i % 3 == 1 ? R"({"embedding": true})"
                                 : R"({"tokenize": true})"));
    ASSERT_TRUE(SetPrompt(&context, ""));
  }
}

TEST_P(LlamaDecode, AnswersInOneStep) {
  Context context(model_);
  ASSERT_TRUE(SetPrompt(&context, kDecodedText));
  ASSERT_TRUE(SetOptions(&context, R"({"decode": true, "top-logits": 1})"));
  const NativeCompletion expected = Expected(kDecodedText, 2);
  ASSERT_TRUE(context.Step());
  EXPECT_EQ(LogitTokensOf(&context), Tokens{expected.tokens[0]});
  EXPECT_EQ(context.Step().code, WASINN_ERROR_END_OF_SEQUENCE);
  ASSERT_TRUE(context.Set(kTokens, MakeTensor<int32_t>(WASINN_DTYPE_I32, {1}, {expected.tokens[0]})));
  ASSERT_TRUE(context.Finish());
  ASSERT_TRUE(context.Step());
  EXPECT_EQ(LogitTokensOf(&context), Tokens{expected.tokens[1]});
}

// More contexts than places, of two guests.
TEST_P(LlamaDecode, WorksOnManyThreads) {
  const NativeCompletion expected = Expected(kDecodedText, 16);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Context context(model_, 0, "{}", i % 2 == 0 ? &guest_ : &other_);
      EXPECT_EQ(DecodeGreedily(&context, text_, 16), expected.tokens);
      EXPECT_TRUE(Decode(&context, text_, {{"save-state", "a"}}));
      EXPECT_EQ(DecodeGreedily(&context, text_, 16, {{"restore-state", "a"}}), expected.tokens);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A place stays a context's between two tokens, but others do not wait long for it.
TEST(LlamaDecodeSlots, AreTakenFromIdleGuests) {
  const Host host;
  const Model model(host, WideModel(), LlamaOptions(R"({"temp": 0, "n-predict": 4, "parallel": 1})"));
  const Tokens text = NativeWide().Tokenize(kDecodedText);
  const NativeCompletion expected = Expected(kDecodedText, 6);
  Context first(model), second(model);
  EXPECT_EQ(DecodeGreedily(&first, text, 3), Tokens(expected.tokens.begin(), expected.tokens.begin() + 3));
  ASSERT_TRUE(ComputeOn(&second, "oats")) << "it waits for no end that never comes";
  EXPECT_EQ(DecodeGreedily(&first, text, 6), expected.tokens) << "and the first one goes on";
  EXPECT_TRUE(second.Compute());
  // At once, where the guest says that it has done.
  ASSERT_TRUE(Decode(&first, text));
  ASSERT_TRUE(first.Finish());
  EXPECT_TRUE(second.Compute());
}

TEST(LlamaDecodeModels, WorkWithPackedCaches) {
  const Host host;
  const Model model(host, WideModel(), LlamaOptions(R"({"temp": 0, "cache-type-k": "q8_0", "ctx-size": 64})"));
  Context context(model), other(model);
  ASSERT_TRUE(Ask(&other, kDecodedText, R"({"n-predict": 8})"));
  const Tokens chosen = DecodeGreedily(&context, NativeWide().Tokenize(kDecodedText), 8);
  ASSERT_TRUE(SetPrompt(&other, json(chosen).dump()));
  const std::string generated = Written(&other);
  ASSERT_TRUE(ComputeWith(&other, R"({"detokenize": true})"));
  EXPECT_EQ(Written(&other), generated);
}

}  // namespace
}  // namespace wasinn::test
