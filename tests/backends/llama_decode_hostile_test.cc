// Mistakes and attacks of a guest that chooses the tokens itself.
#include <climits>

#include "backends/expect.h"
#include "backends/llama_decoder.h"
#include "backends/llama_models.h"

namespace wasinn::test {
namespace {

const Tokens kSixTokens = {1, 270, 265, 264, 5, 9};

class LlamaDecodeHostile : public ::testing::TestWithParam<const char*> {
 protected:
  // The message; the same context works afterwards, and has what it had.
  std::string Refused(Context* context, const Tokens& tokens, const json& options, wasinn_code code) {
    EXPECT_TRUE(Decode(context, kSixTokens));
    const std::vector<float> before = LogitsOf(context);
    const Result refused = Decode(context, tokens, options);
    EXPECT_EQ(refused.code, code) << options << ": " << refused.message;
    Tensor logits;
    EXPECT_EQ(context->Get(kLogits, &logits).code, WASINN_ERROR_INVALID_ARGUMENT) << "there are none";
    EXPECT_TRUE(Decode(context, kSixTokens));
    EXPECT_EQ(Likeliest(LogitsOf(context)), Likeliest(before));
    return refused.message;
  }

  const Host host_;
  const Model model_{host_, LongModel(),
                     LlamaOptions(std::string(R"({"temp": 0, "ctx-size": 256, "parallel": )") + GetParam() + "}")};
};

INSTANTIATE_TEST_SUITE_P(Parallel, LlamaDecodeHostile, ::testing::Values("0", "2"));

TEST_P(LlamaDecodeHostile, TokensOutsideOfTheVocabularyAreRefused) {
  Context context(model_);
  for (const int32_t token : {-1, 288, INT32_MAX, INT32_MIN}) {
    Tokens tokens = kSixTokens;
    tokens.push_back(token);
    EXPECT_THAT(Refused(&context, tokens, {}, WASINN_ERROR_INVALID_ARGUMENT),
                HasSubstr("tokens: number 6 is " + std::to_string(token) + ": the model has 0 to 287"));
  }
  EXPECT_THAT(Refused(&context, {}, {}, WASINN_ERROR_INVALID_ARGUMENT), HasSubstr("the prompt is empty"));
}

TEST_P(LlamaDecodeHostile, InvalidPositionsAreRefused) {
  Context context(model_);
  EXPECT_THAT(Refused(&context, kSixTokens, {{"position", 6}}, WASINN_ERROR_INVALID_ARGUMENT),
              HasSubstr("position: expected one of the text's tokens, 0 to 5: found 6"));
  for (const json& position : {json(-1), json(-2147483648LL), json(2147483648LL), json(1.5), json(1e30), json("1"),
                               json(true), json(UINT64_MAX)}) {
    EXPECT_THAT(Refused(&context, kSixTokens, {{"position", position}}, WASINN_ERROR_INVALID_ARGUMENT),
                HasSubstr("position"));
  }
  EXPECT_THAT(Refused(&context, kSixTokens, {{"position", INT32_MAX}}, WASINN_ERROR_INVALID_ARGUMENT),
              HasSubstr("0 to 5"));
}

TEST_P(LlamaDecodeHostile, MoreLogitsThanTokensAreRefused) {
  Context context(model_);
  EXPECT_THAT(Refused(&context, kSixTokens, {{"top-logits", 289}}, WASINN_ERROR_INVALID_ARGUMENT), HasSubstr("288"));
  EXPECT_THAT(Refused(&context, kSixTokens, {{"top-logits", INT32_MAX}}, WASINN_ERROR_INVALID_ARGUMENT),
              HasSubstr("288"));
  for (const json& top : {json(-1), json(2147483648LL), json(4294967296LL), json(UINT64_MAX), json(0.5), json("all")}) {
    EXPECT_THAT(Refused(&context, kSixTokens, {{"top-logits", top}}, WASINN_ERROR_INVALID_ARGUMENT),
                HasSubstr("top-logits"));
  }
}

TEST_P(LlamaDecodeHostile, ContradictorySettingsAreRefused) {
  Context context(model_);
  for (const char* other : {"embedding", "tokenize", "detokenize", "rerank"}) {
    EXPECT_THAT(Refused(&context, kSixTokens, {{other, true}}, WASINN_ERROR_INVALID_ARGUMENT),
                HasSubstr("at most one of them"));
  }
  EXPECT_THAT(Refused(&context, kSixTokens, {{"restore-state", "none"}}, WASINN_ERROR_NOT_FOUND), HasSubstr("none"));
}

TEST_P(LlamaDecodeHostile, TooLongTextsAreRefused) {
  Context context(model_);
  EXPECT_THAT(Refused(&context, Tokens(257, 5), {}, WASINN_ERROR_PROMPT_TOO_LONG),
              HasSubstr("257 tokens: the context has 256"));
  Refused(&context, Tokens(1 << 20, 5), {{"position", 0}}, WASINN_ERROR_PROMPT_TOO_LONG);
  ASSERT_TRUE(Decode(&context, Tokens(256, 5))) << "to the last place";
  Context with_prompt(model_);
  ASSERT_TRUE(SetPrompt(&with_prompt, "the hen ate"));
  EXPECT_EQ(Decode(&with_prompt, Tokens(250, 5)).code, WASINN_ERROR_PROMPT_TOO_LONG);
}

TEST_P(LlamaDecodeHostile, LogitsAreChargedToTheGuest) {
  Account guest;
  {
    Context context(model_, 0, "{}", &guest);
    ASSERT_TRUE(Decode(&context, kSixTokens));
    ASSERT_TRUE(Decode(&context, Tokens(200, 5), {{"position", 199 - 63}}));
    const uint64_t used = guest.used, rows = 64 * 288 * sizeof(float);
    context.DiscardOutputs();
    EXPECT_GE(used, guest.used + rows);
    // There is room for these rows and no more.
    guest.limit = used;
    const Result refused = Decode(&context, Tokens(200, 5), {{"position", 0}});
    EXPECT_EQ(refused.code, WASINN_ERROR_TOO_LARGE) << refused.message;
    EXPECT_TRUE(Decode(&context, Tokens(200, 5), {{"position", 199 - 63}}));
    EXPECT_TRUE(Decode(&context, Tokens(200, 5), {{"position", 0}, {"top-logits", 1}}));
    guest.limit = UINT64_MAX;
  }
  EXPECT_EQ(guest.used, 0u);
}

TEST(LlamaDecodeLimits, LogitsCountAsMemoryOfTheCompute) {
  const Host host;
  const Model model(host, TinyLlamaWriter({.context = 10240}).Write(),
                    LlamaOptions(R"({"temp": 0, "ctx-size": 10240, "ubatch-size": 8})"));
  Context context(model, 10 << 20);
  const Result refused = Decode(&context, Tokens(10240, 5), {{"position", 0}});
  EXPECT_EQ(refused.code, WASINN_ERROR_TOO_LARGE);
  EXPECT_THAT(refused.message, HasSubstr("the logits of 10240 tokens take 11796480 bytes"));
  EXPECT_TRUE(Decode(&context, kSixTokens, {{"position", 0}}));
}

TEST_P(LlamaDecodeHostile, BranchesAreCharged) {
  Account guest;
  Context context(model_, 0, "{}", &guest);
  ASSERT_TRUE(Decode(&context, Tokens(200, 5), {{"save-state", "0"}}));
  const uint64_t bytes = Metadata(&context)["states"][0]["bytes"];
  guest.limit = guest.used + bytes / 2;
  const Result refused = Decode(&context, Tokens(200, 5), {{"save-state", "1"}});
  EXPECT_EQ(refused.code, WASINN_ERROR_TOO_LARGE) << refused.message;
  guest.limit = UINT64_MAX;
  EXPECT_TRUE(Decode(&context, kSixTokens));
  EXPECT_EQ(Metadata(&context)["states"].size(), 1u);
}

// Logits of a guest's own model that are no numbers.
TEST(LlamaDecodeNumbers, NansAreNotSorted) {
  GgufWriter writer = TinyLlamaWriter();
  for (GgufWriter::Tensor& tensor : writer.tensors) {
    if (tensor.name == "output_norm.weight") tensor.bytes.assign(tensor.bytes.size(), '\xff');
  }
  auto&& [host, model, context] = Opened(writer.Write(), LlamaOptions());
  ASSERT_TRUE(Decode(&context, kSixTokens, {{"top-logits", 288}}));
  EXPECT_EQ(LogitTokensOf(&context).size(), 288u);
  EXPECT_TRUE(DecodeReport(&context)["log_sums"][0].is_null());
  ASSERT_TRUE(Decode(&context, kSixTokens));
  EXPECT_EQ(LogitsOf(&context).size(), 288u);
}

}  // namespace
}  // namespace wasinn::test
