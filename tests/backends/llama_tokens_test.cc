// Tokens and their probabilities.
#include "backends/expect.h"
#include "backends/llama_models.h"

namespace wasinn::test {
namespace {

constexpr uint32_t kStepProbabilities = 5;
constexpr const char* kMarkedText = "the hen ate \u20ac 10 of oats</s>";

class LlamaTokenLists : public ::testing::Test {
 protected:
  Result Ask(const std::string& prompt, const json& options) {
    const Result set = SetPrompt(&context_, prompt);
    EXPECT_TRUE(set) << set.message;
    EXPECT_TRUE(SetOptions(&context_, options.dump()));
    return context_.Compute();
  }
  json Probabilities() { return Output(kProbabilities); }
  json Generation() { return Output(kGeneration); }
  json Output(uint32_t index) {
    Tensor output;
    const Result got = context_.Get(index, &output);
    EXPECT_TRUE(got) << got.message;
    return output.bytes.empty() ? json() : json::parse(output.bytes);
  }

  const Host host_;
  const Model model_{host_, TinyModel(), LlamaOptions(R"({"n-predict": 8, "temp": 0, "ctx-size": 256})")};
  Context context_{model_};
};

TEST_F(LlamaTokenLists, AreThoseOfLlamaCpp) {
  ASSERT_TRUE(Ask(kMarkedText, {{"tokenize", true}}));
  const std::vector<int32_t> native = NativeTiny().Tokenize(kMarkedText);
  EXPECT_EQ(json::parse(Written(&context_)), (json{{"count", native.size()}, {"tokens", native}}));
  EXPECT_EQ(Metadata(&context_)["input_tokens"], native.size());
  EXPECT_EQ(Metadata(&context_)["output_tokens"], 0);
  ASSERT_TRUE(Ask(json(native).dump(), {{"detokenize", true}}));
  EXPECT_EQ(Written(&context_), "<s> " + std::string(kMarkedText));
  const std::string longer(2000, 'x');
  ASSERT_TRUE(Ask(longer, {{"tokenize", true}})) << "longer than a context";
  EXPECT_GT(int(json::parse(Written(&context_))["count"]), 256);
}

// llama.cpp holds some sixty bytes for each of a text while it makes tokens of it, and cannot be interrupted.
TEST_F(LlamaTokenLists, LongTextsAreChargedAndLimited) {
  Account guest;
  Context context(model_, 0, "{}", &guest);
  const auto ask = [&](size_t bytes) {
    EXPECT_TRUE(SetPrompt(&context, std::string(bytes, 'e')));
    EXPECT_TRUE(SetOptions(&context, R"({"tokenize": true})"));
    return context.Compute();
  };
  EXPECT_EQ(ask((1 << 20) + 1).code, WASINN_ERROR_PROMPT_TOO_LONG);
  EXPECT_EQ(guest.most, 0U);
  EXPECT_TRUE(ask(200'000));
  EXPECT_GT(guest.most, 8U << 20);
  EXPECT_LT(guest.used, 8U << 20);
  guest.limit = 4 << 20;
  EXPECT_EQ(ask(200'000).code, WASINN_ERROR_TOO_LARGE);
  EXPECT_TRUE(ask(50'000));
}

// llama.cpp's time for them is that of their number's square.
TEST_F(LlamaTokenLists, BytesWithoutATokenAreLimited) {
  for (const char* unknown : {"x", "\u20ad"}) {
    std::string text;
    while (text.size() < 100'000) text += unknown;
    const Result refused = Ask(text, {{"tokenize", true}});
    EXPECT_EQ(refused.code, WASINN_ERROR_PROMPT_TOO_LONG);
    EXPECT_THAT(refused.message, HasSubstr("the model has no tokens for "));
  }
  EXPECT_TRUE(Ask(std::string(30'000, 'x'), {{"tokenize", true}}));
}

TEST_F(LlamaTokenLists, AnswerInOneStep) {
  ASSERT_TRUE(SetPrompt(&context_, kMarkedText));
  ASSERT_TRUE(SetOptions(&context_, R"({"tokenize": true})"));
  ASSERT_TRUE(context_.Step());
  EXPECT_THAT(Written(&context_), HasSubstr("\"count\""));
  EXPECT_EQ(context_.Step().code, WASINN_ERROR_END_OF_SEQUENCE);
}

TEST_F(LlamaTokenLists, AreChecked) {
  for (const char* bad :
       {"", "the hen", "{}", "[]", "[-1]", "[1.5]", "[288]", "[99999999999999999999]", "[\"a\"]", "[[1]]"}) {
    EXPECT_EQ(Ask(bad, {{"detokenize", true}}).code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
  }
  EXPECT_EQ(Ask(std::string(100000, '['), {{"detokenize", true}}).code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(Ask("[1]", {{"detokenize", true}, {"tokenize", true}}).code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(Ask("[1]", {{"detokenize", true}, {"embedding", true}}).code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST_F(LlamaTokenLists, HaveTheirProbabilities) {
  ASSERT_TRUE(Ask("the hen", json::object()));
  EXPECT_EQ(Probabilities(), json()) << "which are not asked for";
  const std::string plain = Written(&context_);
  ASSERT_TRUE(Ask("the hen", {{"n-probs", 20}}));
  EXPECT_EQ(Written(&context_), plain);
  const json output = Probabilities();
  ASSERT_EQ(output.size(), size_t(Metadata(&context_)["output_tokens"]));
  for (const json& token : output) {
    ASSERT_EQ(token["top_logprobs"].size(), 20u);
    EXPECT_EQ(token["top_logprobs"][0]["bytes"], token["bytes"]) << "the most probable one was chosen";
    double sum = 0, last = 0;
    for (const json& other : token["top_logprobs"]) {
      const double logprob = other["logprob"];
      EXPECT_LE(logprob, last) << "the most probable ones come first";
      last = logprob;
      sum += std::exp(logprob);
    }
    EXPECT_LE(sum, 1.0001);
    EXPECT_GT(sum, 20.0 / 288) << "they are more than all others would be alike";
  }
  ASSERT_TRUE(Ask("the hen", {{"n-probs", 0}}));
  EXPECT_EQ(Probabilities().size(), output.size());
  EXPECT_EQ(Probabilities()[0]["top_logprobs"], json::array());
  EXPECT_EQ(Ask("the hen", {{"n-probs", 21}}).code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST_F(LlamaTokenLists, HaveTheProbabilitiesOfEachStep) {
  ASSERT_TRUE(SetPrompt(&context_, "the hen"));
  ASSERT_TRUE(SetOptions(&context_, R"({"n-probs": 2})"));
  json steps = json::array();
  while (context_.Step()) {
    const Tensor output = MustGet(&context_, kStepProbabilities);
    for (const json& one : json::parse(output.bytes)) steps.push_back(one);
  }
  EXPECT_EQ(steps.size(), size_t(Metadata(&context_)["output_tokens"]));
  ASSERT_TRUE(Ask("the hen", {{"n-probs", 2}}));
  const json whole = Probabilities();
  ASSERT_EQ(whole.size(), steps.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(whole[i]["token"], steps[i]["token"]);
    // This prompt was evaluated before, so its parts are others now.
    EXPECT_NEAR(whole[i]["logprob"].get<double>(), steps[i]["logprob"].get<double>(), 1e-4);
    EXPECT_EQ(whole[i]["top_logprobs"].size(), steps[i]["top_logprobs"].size());
  }
}

TEST_F(LlamaTokenLists, ArePrompts) {
  ASSERT_TRUE(Ask(kMarkedText, json::object()));
  const std::string written = Written(&context_);
  const std::vector<int32_t> tokens = NativeTiny().Tokenize(kMarkedText);
  ASSERT_TRUE(Ask(json(tokens).dump(), {{"tokens", true}}));
  EXPECT_EQ(Written(&context_), written);
  EXPECT_EQ(Metadata(&context_)["input_tokens"], tokens.size());
  for (const char* bad : {"", "the hen", "{}", "[]", "[-1]", "[1.5]", "[288]", "[\"\"]", "[\"a\", -1]", "[[1]]"}) {
    EXPECT_EQ(Ask(bad, {{"tokens", true}}).code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
  }
  EXPECT_EQ(Ask(json(std::vector<int>(257, 5)).dump(), {{"tokens", true}}).code, WASINN_ERROR_PROMPT_TOO_LONG);
  EXPECT_EQ(Ask("[1]", {{"tokens", true}, {"chat", true}}).code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST_F(LlamaTokenLists, MayHaveTextsBetweenThem) {
  const auto written = [&](const json& list) {
    EXPECT_TRUE(Ask(list.dump(), {{"tokens", true}}));
    return Written(&context_);
  };
  const std::vector<int32_t> hen = NativeTiny().Tokenize("the hen");
  std::vector<int32_t> whole = hen, behind = {5};
  whole.push_back(5);
  whole.insert(whole.end(), hen.begin() + 1, hen.end());
  behind.insert(behind.end(), hen.begin() + 1, hen.end());
  EXPECT_EQ(written({"the hen", 5, "the hen"}), written(whole)) << "a text that comes first is whole";
  EXPECT_EQ(Metadata(&context_)["input_tokens"], whole.size());
  EXPECT_EQ(written({5, "the hen"}), written(behind));
  EXPECT_EQ(Metadata(&context_)["input_tokens"], behind.size());
  EXPECT_EQ(written({"", 5}), written(json::array({5})));
  // A list that is too long is refused as a whole.
  const std::string half(900, 'x');
  EXPECT_EQ(Ask(json{half, 5, half}.dump(), {{"tokens", true}}).code, WASINN_ERROR_PROMPT_TOO_LONG);
  EXPECT_EQ(Ask(json::array({std::string(1 << 20, 'x')}).dump(), {{"tokens", true}}).code,
            WASINN_ERROR_PROMPT_TOO_LONG);
  EXPECT_EQ(Ask("[\"the hen\", 5]", {{"detokenize", true}}).code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST_F(LlamaTokenLists, HaveOneTokenForEachStep) {
  ASSERT_TRUE(SetPrompt(&context_, "the hen"));
  ASSERT_TRUE(SetOptions(&context_, "{}"));
  json tokens = json::array();
  while (context_.Step()) {
    const Tensor output = MustGet(&context_, kStepTokens);
    ASSERT_EQ(output.bytes.size() % sizeof(int32_t), 0u);
    EXPECT_EQ(output.dims, std::vector<int64_t>{static_cast<int64_t>(output.bytes.size() / sizeof(int32_t))});
    for (size_t i = 0; i < output.bytes.size(); i += sizeof(int32_t)) {
      int32_t token = 0;
      std::memcpy(&token, output.bytes.data() + i, sizeof token);
      tokens.push_back(token);
    }
  }
  EXPECT_EQ(tokens.size(), size_t(Metadata(&context_)["output_tokens"]));
  const std::string written = Written(&context_);
  ASSERT_TRUE(Ask(tokens.dump(), {{"detokenize", true}}));
  EXPECT_EQ(Written(&context_), written);
}

TEST_F(LlamaTokenLists, ALongPromptIsEvaluatedInSteps) {
  std::vector<int32_t> prompt(100, 5);
  prompt[0] = 1;
  ASSERT_TRUE(Ask(json(prompt).dump(), {{"tokens", true}, {"cache-prompt", false}, {"batch-size", 16}}));
  const std::string written = Written(&context_);
  ASSERT_TRUE(SetPrompt(&context_, json(prompt).dump()));
  ASSERT_TRUE(
      SetOptions(&context_, R"({"tokens": true, "cache-prompt": false, "batch-size": 16, "prompt-steps": true})"));
  std::vector<int> held;
  while (context_.Step()) {
    const json metadata = Metadata(&context_);
    if (metadata["output_tokens"] == 0) {
      EXPECT_EQ(Written(&context_), "");
      EXPECT_EQ(metadata["evaluated_tokens"], 100);
      EXPECT_EQ(metadata["finish_reason"], json());
    }
    held.push_back(metadata["held_prompt_tokens"]);
  }
  ASSERT_GE(held.size(), 7u);
  EXPECT_EQ(std::vector<int>(held.begin(), held.begin() + 7), (std::vector<int>{16, 32, 48, 64, 80, 96, 100}));
  EXPECT_EQ(held.back(), 100);
  EXPECT_EQ(Written(&context_), written);
  // In one compute it is the same.
  ASSERT_TRUE(context_.Compute());
  EXPECT_EQ(Written(&context_), written);
}

TEST_F(LlamaTokenLists, HaveTheirTexts) {
  constexpr const char* kUnknown = "the hen \u20ad";  // which is spelled
  ASSERT_TRUE(Ask(kUnknown, {{"tokenize", true}}));
  const json plain = json::parse(Written(&context_))["tokens"];
  ASSERT_TRUE(Ask(kUnknown, {{"tokenize", true}, {"with-pieces", true}}));
  const json output = json::parse(Written(&context_));
  ASSERT_EQ(output["count"], plain.size());
  ASSERT_EQ(output["tokens"].size(), plain.size());
  bool has_bytes = false;
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(output["tokens"][i]["id"], plain[i]);
    const json& piece = output["tokens"][i]["piece"];
    has_bytes = has_bytes || piece.is_array();
    EXPECT_TRUE(piece.is_array() || piece.is_string()) << piece;
  }
  EXPECT_TRUE(has_bytes) << "of a character of several tokens";
}

// A guest's own model has tokens as long as it likes.
TEST_F(LlamaTokenLists, TheirTextsAreChargedBeforeTheyAreMade) {
  GgufWriter writer = TinyLlamaWriter();
  std::vector<std::string> words = TinyVocabulary();
  words.back() = std::string(4000, 'e');
  writer.SetTexts("tokenizer.ggml.tokens", words);
  Account guest;
  const Model model(host_, writer.Write(), LlamaOptions(R"({"ctx-size": 256})"));
  Context context(model, 0, "{}", &guest);
  ASSERT_TRUE(SetPrompt(&context, json(std::vector<size_t>(200, words.size() - 1)).dump()));
  ASSERT_TRUE(SetOptions(&context, R"({"tokenize": true, "tokens": true, "with-pieces": true})"));
  guest.limit = 100'000;
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
  guest.limit = 10 << 20;
  ASSERT_TRUE(context.Compute());
  const size_t written = Written(&context).size();
  EXPECT_GT(written, 200 * 4000U);
  EXPECT_GE(guest.used, written);
  EXPECT_GT(guest.most, guest.used) << "until its length is known, it is charged as long as it can be";
}

TEST_F(LlamaTokenLists, CanHaveProbabilitiesAfterTheSamplers) {
  const json options = {
      {"n-probs", 20}, {"post-sampling-probs", true}, {"temp", 1}, {"top-k", 3}, {"min-p", 0}, {"top-p", 1},
      {"seed", 3}};
  ASSERT_TRUE(Ask("the hen", options));
  const json output = Probabilities();
  ASSERT_EQ(output.size(), size_t(Metadata(&context_)["output_tokens"]));
  for (const json& token : output) {
    EXPECT_FALSE(token.contains("logprob"));
    ASSERT_EQ(token["top_probs"].size(), 3u);
    double sum = 0;
    bool is_among = false;
    for (const json& one : token["top_probs"]) {
      sum += one["prob"].get<double>();
      is_among = is_among || (one["id"] == token["id"] && one["prob"] == token["prob"]);
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_TRUE(is_among) << token;
  }
  ASSERT_TRUE(Ask("the hen", {{"n-probs", 5}, {"post-sampling-probs", true}}));
  for (const json& token : Probabilities()) {
    EXPECT_EQ(token["prob"], 1.0) << "at temperature 0";
    ASSERT_EQ(token["top_probs"].size(), 1u);
    EXPECT_EQ(token["top_probs"][0]["id"], token["id"]);
  }
}

TEST_F(LlamaTokenLists, IgnoreEosForbidsEndTokens) {
  constexpr int32_t kEnd = 2;
  const json to_end = json::array({json::array({kEnd, 100})});
  ASSERT_TRUE(Ask("the hen", {{"logit-bias", to_end}}));
  json metadata = Metadata(&context_);
  EXPECT_EQ((json{metadata["output_tokens"], metadata["stop_type"]}), (json{0, "eos"}));
  ASSERT_TRUE(Ask("the hen", {{"logit-bias", to_end}, {"ignore-eos", true}, {"report", true}}));
  metadata = Metadata(&context_);
  EXPECT_EQ((json{metadata["output_tokens"], metadata["stop_type"]}), (json{8, "limit"}));
  const json biases = Generation()["settings"]["logit-bias"];
  EXPECT_EQ(biases.size(), 1U);
  EXPECT_EQ(biases[0], (json{kEnd, false}));
  // A grammar after which only the end may come.
  const Result none = Ask("the hen", {{"ignore-eos", true}, {"grammar", "root ::= \"a\""}});
  EXPECT_EQ(none.code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(none.message, HasSubstr("no token may be chosen"));
  EXPECT_TRUE(Ask("the hen", json::object())) << "the context goes on";
}

TEST_F(LlamaTokenLists, TheirReportHasTheSettings) {
  json asked = {{"top-k", 7}, {"seed", 5}, {"reverse-prompt", "zz"}, {"logit-bias", {{"the", 1}}}};
  ASSERT_TRUE(Ask(kMarkedText, asked));
  EXPECT_EQ(Generation(), json()) << "it was not requested";
  asked["report"] = true;
  ASSERT_TRUE(Ask(kMarkedText, asked));
  const json output = Generation();
  EXPECT_EQ(output["prompt"], "<s> " + std::string(kMarkedText));
  const json& settings = output["settings"];
  EXPECT_EQ((json{settings["top-k"], settings["seed"], settings["n-predict"], settings["reverse-prompt"]}),
            (json{7, 5, 8, json::array({"zz"})}));
  EXPECT_EQ(settings["logit-bias"].size(), NativeTiny().Tokenize("the").size() - 1);
  ASSERT_TRUE(Ask("[1]", {{"detokenize", true}, {"report", true}}));
  EXPECT_EQ(Generation(), json()) << "of a generation alone";
}

TEST_F(LlamaTokenLists, TheirStopTypeIsReported) {
  ASSERT_TRUE(Ask("the hen", json::object()));
  json metadata = Metadata(&context_);
  EXPECT_EQ((json{metadata["stop_type"], metadata["stopping_word"], metadata["truncated"]}),
            (json{"limit", "", false}));
  const json the = {{std::to_string(259 + 11), 100}};
  ASSERT_TRUE(Ask("the hen", {{"logit-bias", the}, {"reverse-prompt", {"no such", "het"}}}));
  metadata = Metadata(&context_);
  EXPECT_EQ((json{metadata["stop_type"], metadata["stopping_word"]}), (json{"word", "het"}));
  EXPECT_EQ(Written(&context_), "t");
  EXPECT_EQ(Ask("the hen", {{"n-predict", -1}, {"ignore-eos", true}}).code, WASINN_ERROR_CONTEXT_FULL);
  metadata = Metadata(&context_);
  EXPECT_EQ((json{metadata["stop_type"], metadata["truncated"]}), (json{"limit", true}));
}

// It is as long as the prompt, and longer as JSON.
TEST_F(LlamaTokenLists, TheirReportIsCharged) {
  Account guest;
  Context context(model_, 0, "{}", &guest);
  ASSERT_TRUE(test::Ask(&context, std::string(200, 'e'), R"({"n-predict": 1, "report": true})"));
  const uint64_t before = guest.used, limit = guest.limit;
  guest.limit = before;
  Tensor output;
  EXPECT_EQ(context.Get(kGeneration, &output).code, WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(guest.used, before);
  guest.limit = limit;
  ASSERT_TRUE(context.Get(kGeneration, &output));
  EXPECT_EQ(guest.used, before + output.bytes.size());
  guest.most = guest.used.load();
  ASSERT_TRUE(context.Get(kGeneration, &output));
  EXPECT_EQ(guest.most, guest.used) << "it is made once";
}

// Parsed, a list of nothing takes many times its text, also one that is refused.
TEST_F(LlamaTokenLists, AreChargedBeforeTheyAreRead) {
  std::string nothing = "[[]";
  while (nothing.size() < 300'000) nothing += ",[]";
  nothing += ']';
  for (const char* const key : {"tokens", "detokenize"}) {
    Account guest;
    Context context(model_, 0, "{}", &guest);
    ASSERT_TRUE(SetPrompt(&context, nothing));
    ASSERT_TRUE(SetOptions(&context, json{{key, true}}.dump()));
    const uint64_t before = guest.used;
    EXPECT_EQ(Metadata(&context)["input_tokens"], 0) << "only a compute reads it, which has a deadline";
    guest.limit = before + nothing.size();
    EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
    guest.limit = before + 32 * nothing.size();
    EXPECT_EQ(context.Compute().code, WASINN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(guest.used, before);
  }
}

// Each step of llama.cpp goes through all of them.
TEST_F(LlamaTokenLists, HaveALimitOfBiases) {
  constexpr uint32_t kCharacters = 4200, kInText = 80;
  const Model model(host_, TinyLlamaWriter({.embedding = 8, .characters = kCharacters}).Write(), LlamaOptions("{}"));
  Context context(model);
  ASSERT_TRUE(SetPrompt(&context, "the hen"));
  const auto biased = [&](uint32_t n) {
    json texts = json::object();
    for (uint32_t i = 0; i < n; i += kInText) {
      std::string text;
      for (uint32_t next = i; next < std::min(n, i + kInText); ++next) text += TinyCharacter(next);
      texts[text] = 1;
    }
    EXPECT_TRUE(SetOptions(&context, json{{"n-predict", 1}, {"logit-bias", texts}}.dump()));
    return context.Compute();
  };
  EXPECT_TRUE(biased(4000)) << biased(4000).message;
  const Result too_many = biased(kCharacters);
  EXPECT_EQ(too_many.code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(too_many.message, HasSubstr("logit-bias: the texts have more than 4096 tokens"));
  EXPECT_TRUE(biased(1)) << "the context goes on";
}

TEST_F(LlamaTokenLists, AreBiasedOnceEach) {
  const json texts = {{"q", 2}, {"qq", 3}, {"the", 1}};
  const Result asked = Ask("the hen", {{"logit-bias", texts}, {"report", true}});
  ASSERT_TRUE(asked) << asked.message;
  std::map<int, double> biases;
  const json output = Generation();
  for (const json& one : output["settings"]["logit-bias"]) EXPECT_TRUE(biases.emplace(one[0], one[1]).second);
  double all = 0;
  for (const auto& [token, bias] : biases) all += bias;
  size_t native = 0;
  for (const auto& [text, bias] : texts.items()) native += (NativeTiny().Tokenize(text).size() - 1) * size_t(bias);
  EXPECT_EQ(all, native) << "as if each text's tokens had theirs";
}

TEST_F(LlamaTokenLists, CanOmitTheBeginningToken) {
  const std::vector<int32_t> native = NativeTiny().Tokenize(kMarkedText);
  ASSERT_TRUE(Ask(kMarkedText, {{"tokenize", true}, {"add-special", false}}));
  EXPECT_EQ(json::parse(Written(&context_))["tokens"], json(std::vector<int32_t>(native.begin() + 1, native.end())));
}

TEST_F(LlamaTokenLists, AreBiased) {
  constexpr int32_t kThe = 259 + 11;
  ASSERT_EQ(NativeTiny().Tokenize("a the").back(), kThe + 1) << "with the space before it";
  ASSERT_TRUE(Ask("the hen", {{"logit-bias", {{std::to_string(kThe), 100}}}}));
  EXPECT_EQ(Written(&context_), "thethethethethethethethe");
  ASSERT_TRUE(Ask("the hen", {{"logit-bias", json::array({json::array({kThe, 100})})}}));
  EXPECT_EQ(Written(&context_), "thethethethethethethethe");
  json all = json::array();
  for (int32_t token = 0; token < 288; ++token) {
    if (token != kThe) all.push_back(json::array({token, false}));
  }
  ASSERT_TRUE(Ask("the hen", {{"logit-bias", all}, {"temp", 1}, {"seed", 1}}));
  EXPECT_EQ(Written(&context_), "thethethethethethethethe");
  for (const json& bad :
       {json(1), json("{}"), json{{"1", "much"}}, json{{"288", 1}}, json{{"-1", 1}}, json{{"", 1}}, json{{"1", true}},
        json::array({1}), json::array({json::array({1})}), json::array({json::array({1.5, 1})}),
        json{{std::string(300, 'a'), 1}}, json::array({json::array({json::array(), 1})})}) {
    EXPECT_EQ(Ask("the hen", {{"logit-bias", bad}}).code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
  }
}

}  // namespace
}  // namespace wasinn::test
