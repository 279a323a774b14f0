// Guests that choose the tokens of several texts at once.
#include "backends/expect.h"
#include "backends/llama_decoder.h"
#include "backends/llama_models.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

using Branches = std::vector<Tokens>;

Result DecodeAll(Context* context, const Branches& texts, json options = json::object()) {
  options["decode"] = true;
  Tokens rows;
  for (const Tokens& text : texts) rows.insert(rows.end(), text.begin(), text.end());
  EXPECT_TRUE(SetOptions(context, options.dump()));
  const auto length = static_cast<int64_t>(texts.front().size());
  EXPECT_TRUE(context->Set(kTokens, MakeTensor(WASINN_DTYPE_I32, {static_cast<int64_t>(texts.size()), length}, rows)));
  return context->Compute();
}

Tokens With(Tokens text, std::initializer_list<int32_t> more) {
  text.insert(text.end(), more);
  return text;
}

// The likeliest token of each row.
Tokens LikeliestOfEach(Context* context) {
  const Tensor logits = MustGet(context, kLogits);
  const std::vector<float> all = logits.As<float>();
  Tokens tokens;
  for (auto row = all.begin(); row != all.end(); row += logits.dims[1]) {
    tokens.push_back(static_cast<int32_t>(std::max_element(row, row + logits.dims[1]) - row));
  }
  return tokens;
}

// Alone, and of those that share a llama context.
class LlamaBranches : public ::testing::TestWithParam<const char*> {
 protected:
  // As it has them without other texts.
  std::vector<float> Alone(const Branches& texts) {
    std::vector<float> rows;
    for (const Tokens& text : texts) {
      Context context(model_);
      EXPECT_TRUE(Decode(&context, text));
      const std::vector<float> row = LogitsOf(&context);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
  }
  void ExpectAsAlone(Context* context, const Branches& texts) {
    const Tensor logits = MustGet(context, kLogits);
    EXPECT_EQ(logits.dims, (std::vector<int64_t>{static_cast<int64_t>(texts.size()), 288}));
    const std::vector<float> actual = logits.As<float>(), expected = Alone(texts);
    ASSERT_EQ(actual.size(), expected.size());
    // In batches of another size numbers differ in the last places; those of other texts, by whole numbers.
    for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 5e-3) << i;
  }

  const Host host_;
  const LoadedModel model_{
      host_, WideModel(),
      LlamaOptions(std::string(R"({"temp": 0, "ctx-size": 256, "batch-size": 32, "parallel": )") + GetParam() + "}")};
  Account guest_;
  const Tokens text_ = NativeWide().Tokenize("the hen ate the oats, and the other one");
};

INSTANTIATE_TEST_SUITE_P(Parallel, LlamaBranches, ::testing::Values("0", "2"));

TEST_P(LlamaBranches, HaveTheLogitsThatEachHasAlone) {
  Context context(model_);
  const Branches texts = {With(text_, {5, 9, 23}), With(text_, {5, 40, 7}), With(text_, {8, 8, 8})};
  ASSERT_TRUE(DecodeAll(&context, texts));
  EXPECT_EQ(DecodeReport(&context)["n_evaluated"], text_.size() + 9) << "what they have in common, once";
  EXPECT_EQ(DecodeReport(&context)["n_tokens"], text_.size() + 3);
  ExpectAsAlone(&context, texts);
  // The same texts after a prompt, which they share.
  Context with_prompt(model_);
  ASSERT_TRUE(SetPrompt(&with_prompt, json(text_).dump()));
  ASSERT_TRUE(DecodeAll(&with_prompt, {{5, 9, 23}, {8, 8, 8}}, {{"tokens", true}}));
  EXPECT_EQ(DecodeReport(&with_prompt)["n_prompt"], text_.size());
  EXPECT_EQ(DecodeReport(&with_prompt)["n_evaluated"], text_.size() + 6);
  ExpectAsAlone(&with_prompt, {texts[0], texts[2]});
}

TEST_P(LlamaBranches, GoOnAsEachDoesAlone) {
  Context together(model_);
  Branches texts = {With(text_, {5}), With(text_, {9}), With(text_, {23}), With(text_, {40})};
  Branches expected = texts;
  for (Tokens& text : expected) {
    Context alone(model_);
    const Tokens more = DecodeGreedily(&alone, text, 12);
    text.insert(text.end(), more.begin(), more.end());
  }
  for (int step = 0; step < 12; ++step) {
    ASSERT_TRUE(DecodeAll(&together, texts));
    EXPECT_EQ(DecodeReport(&together)["n_evaluated"], texts.size() + (step == 0 ? text_.size() : 0))
        << "one token of each";
    const Tokens next = LikeliestOfEach(&together);
    ASSERT_EQ(next.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) texts[i].push_back(next[i]);
  }
  EXPECT_EQ(texts, expected);
}

// As in a beam search: some end, others go on in two ways, and their order changes.
TEST_P(LlamaBranches, EndAndMultiply) {
  Context context(model_);
  const Tokens a = With(text_, {5, 6}), b = With(text_, {9, 10}), c = With(text_, {23, 24});
  ASSERT_TRUE(DecodeAll(&context, {a, b, c}));
  const Branches second = {With(c, {1}), With(c, {2}), With(a, {3}), With(c, {4})};
  ASSERT_TRUE(DecodeAll(&context, second));
  EXPECT_EQ(DecodeReport(&context)["n_evaluated"], 4);
  ExpectAsAlone(&context, second);
  // Fewer, one of which goes back, and the same one twice.
  const Branches third = {With(second[2], {7}), With(b, {7, 7}), With(second[2], {7})};
  ASSERT_TRUE(DecodeAll(&context, third));
  EXPECT_EQ(DecodeReport(&context)["n_evaluated"], 1 + 4 + 1);
  ExpectAsAlone(&context, third);
  // One goes on alone, and what it has is held.
  const Tokens one = With(third[1], {30});
  ASSERT_TRUE(Decode(&context, one));
  EXPECT_EQ(DecodeReport(&context)["n_evaluated"], 1);
  ExpectAsAlone(&context, {one});
  ASSERT_TRUE(DecodeAll(&context, second));
  ExpectAsAlone(&context, second);
}

TEST_P(LlamaBranches, GiveTheHighestLogits) {
  Context context(model_);
  const Branches texts = {With(text_, {5}), With(text_, {9})};
  ASSERT_TRUE(DecodeAll(&context, texts));
  const Tokens likeliest = LikeliestOfEach(&context);
  ASSERT_TRUE(DecodeAll(&context, texts, {{"top-logits", 3}}));
  const Tensor tokens = MustGet(&context, kLogitTokens);
  EXPECT_EQ(tokens.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((Tokens{tokens.As<int32_t>()[0], tokens.As<int32_t>()[3]}), likeliest);
  EXPECT_EQ(DecodeReport(&context)["log_sums"].size(), 2u);
}

// More tokens than one batch takes.
TEST_P(LlamaBranches, MayBeLong) {
  Context context(model_);
  Branches texts;
  for (const int32_t begin : {5, 9, 23}) {
    Tokens text = {begin};
    for (int i = 0; i < 3; ++i) text.insert(text.end(), text_.begin(), text_.end());
    texts.push_back(text);
  }
  ASSERT_TRUE(DecodeAll(&context, texts));
  EXPECT_EQ(DecodeReport(&context)["n_evaluated"], 3 * texts[0].size()) << "they have no beginning in common";
  ExpectAsAlone(&context, texts);
  ASSERT_TRUE(DecodeAll(&context, texts, {{"cache-prompt", false}}));
  EXPECT_EQ(DecodeReport(&context)["n_evaluated"], 3 * texts[0].size());
  ASSERT_TRUE(DecodeAll(&context, texts));
  EXPECT_EQ(DecodeReport(&context)["n_evaluated"], 3) << "each one's last token, for its logits";
}

TEST_P(LlamaBranches, BeginInAState) {
  Context first(model_, 0, "{}", &guest_), second(model_, 0, "{}", &guest_);
  // Slots have llama contexts of their own, as several texts do.
  ASSERT_TRUE(Decode(&first, text_, {{"save-state", "here"}, {"position", text_.size() - 2}}));
  const Branches texts = {With(text_, {5}), With(text_, {9})};
  ASSERT_TRUE(DecodeAll(&second, texts, {{"restore-state", "here"}}));
  EXPECT_EQ(DecodeReport(&second)["n_evaluated"], 2);
  ExpectAsAlone(&second, texts);
}

TEST_P(LlamaBranches, AreNotDisturbedByOtherComputes) {
  Context context(model_);
  const Branches texts = {With(text_, {5}), With(text_, {9})};
  for (const char* other : {R"({"n-predict": 3})", R"({"embedding": true})", R"({"tokenize": true})"}) {
    ASSERT_TRUE(DecodeAll(&context, texts));
    ExpectAsAlone(&context, texts);
    ASSERT_TRUE(Ask(&context, "oats", other)) << other;
    ASSERT_TRUE(SetPrompt(&context, ""));
  }
}

// The options say decode, but what was computed last is a generation.
TEST_P(LlamaBranches, AreNotThereBeforeTheyAreComputed) {
  Context context(model_);
  ASSERT_TRUE(Ask(&context, "oats", R"({"n-predict": 3})"));
  const size_t tokens = Metadata(&context)["input_tokens"];
  ASSERT_TRUE(SetOptions(&context, R"({"decode": true})"));
  EXPECT_EQ(Metadata(&context)["input_tokens"], tokens);
}

// A memory that cannot lose a part, as that of some models.
TEST(LlamaBranchesModels, NeedNotGoBack) {
  const Host host(R"({"library": ")" + testing::InThisBuild("lib/libllama_shim_whole.so") + "\"}");
  const Model model(host, WideModel(), LlamaOptions(R"({"temp": 0})"));
  Context context(model), fresh(model);
  const Tokens text = NativeWide().Tokenize("the hen ate the oats");
  const Branches first = {With(text, {5, 6}), With(text, {9, 10})},
                 second = {With(first[0], {7}), With(text, {11, 12, 13})};
  ASSERT_TRUE(DecodeAll(&context, first));
  ASSERT_TRUE(DecodeAll(&context, second));
  ASSERT_TRUE(DecodeAll(&fresh, second));
  EXPECT_EQ(LikeliestOfEach(&context), LikeliestOfEach(&fresh));
}

// ---- What a guest may get wrong, or do on purpose

class LlamaBranchesHostile : public LlamaBranches {
 protected:
  // The message; the same context works afterwards.
  std::string Refused(Context* context, const Branches& texts, const json& options, wasinn_code code) {
    const Result refused = DecodeAll(context, texts, options);
    EXPECT_EQ(refused.code, code) << options << ": " << refused.message;
    const Branches good = {With(text_, {5}), With(text_, {9})};
    EXPECT_TRUE(DecodeAll(context, good));
    ExpectAsAlone(context, good);
    return refused.message;
  }
};

INSTANTIATE_TEST_SUITE_P(Parallel, LlamaBranchesHostile, ::testing::Values("0", "2"));

TEST_P(LlamaBranchesHostile, TooManyAreRefused) {
  Context context(model_);
  EXPECT_THAT(Refused(&context, Branches(65, {5}), {}, WASINN_ERROR_TOO_LARGE),
              HasSubstr("tokens: expected at most 64 texts at once: found 65"));
  Refused(&context, Branches(1 << 20, {5}), {}, WASINN_ERROR_TOO_LARGE);
  ASSERT_TRUE(DecodeAll(&context, Branches(64, {5})));
}

TEST_P(LlamaBranchesHostile, EmptyOnesAreOne) {
  Context context(model_);
  EXPECT_THAT(Refused(&context, Branches(3), {}, WASINN_ERROR_INVALID_ARGUMENT), HasSubstr("the prompt is empty"));
  ASSERT_TRUE(SetPrompt(&context, json(text_).dump()));
  ASSERT_TRUE(DecodeAll(&context, Branches(3), {{"tokens", true}}));
  EXPECT_EQ(MustGet(&context, kLogits).dims, (std::vector<int64_t>{1, 288}));
}

TEST_P(LlamaBranchesHostile, TokensOutsideOfTheVocabularyAreNamed) {
  Context context(model_);
  for (const int32_t token : {-1, 288, INT32_MAX, INT32_MIN}) {
    EXPECT_THAT(Refused(&context, {{5, 6}, {7, token}}, {}, WASINN_ERROR_INVALID_ARGUMENT),
                HasSubstr("tokens: number 3 is " + std::to_string(token) + ": the model has 0 to 287"));
  }
}

TEST_P(LlamaBranchesHostile, WhatIsForOneTextIsRefused) {
  Context context(model_);
  EXPECT_THAT(Refused(&context, {{5}, {6}}, {{"position", 0}}, WASINN_ERROR_INVALID_ARGUMENT),
              HasSubstr("expected one text in tokens: found 2"));
  EXPECT_THAT(Refused(&context, {{5}, {6}}, {{"save-state", "a"}}, WASINN_ERROR_INVALID_ARGUMENT),
              HasSubstr("expected one text in tokens: found 2"));
  Refused(&context, {{5}, {6}}, {{"top-logits", 289}}, WASINN_ERROR_INVALID_ARGUMENT);
  Refused(&context, {{5}, {6}}, {{"restore-state", "none"}}, WASINN_ERROR_NOT_FOUND);
}

TEST_P(LlamaBranchesHostile, TheContextIsForAllOfThem) {
  Context context(model_);
  EXPECT_THAT(Refused(&context, {Tokens(257, 5), Tokens(257, 6)}, {}, WASINN_ERROR_PROMPT_TOO_LONG),
              HasSubstr("257 tokens: the context has 256"));
  Refused(&context, {Tokens(200, 5), Tokens(200, 6)}, {}, WASINN_ERROR_CONTEXT_FULL);
  Tokens other(200, 5);
  other.back() = 6;
  ASSERT_TRUE(DecodeAll(&context, {Tokens(200, 5), other})) << "what they share takes its place once";
}

TEST_P(LlamaBranchesHostile, AreChargedToTheGuest) {
  {
    Context context(model_, 0, "{}", &guest_);
    ASSERT_TRUE(DecodeAll(&context, Branches(2, Tokens(100, 5))));
    const uint64_t two = guest_.used;
    ASSERT_TRUE(DecodeAll(&context, Branches(8, Tokens(100, 5))));
    const uint64_t eight = guest_.used;
    EXPECT_GE(eight, two + 6 * (100 * sizeof(int32_t) + 288 * sizeof(float))) << "texts and logits";
    guest_.limit = eight;
    const Result refused = DecodeAll(&context, Branches(9, Tokens(100, 5)));
    EXPECT_EQ(refused.code, WASINN_ERROR_TOO_LARGE) << refused.message;
    EXPECT_TRUE(DecodeAll(&context, Branches(8, Tokens(100, 5))));
    guest_.limit = UINT64_MAX;
    ASSERT_TRUE(DecodeAll(&context, Branches(64, Tokens(100, 5))));
    EXPECT_GE(guest_.used, eight + 56 * 2 * 288 * sizeof(float)) << "the room for their logits";
  }
  EXPECT_EQ(guest_.used, 0u);
}

}  // namespace
}  // namespace wasinn::test
