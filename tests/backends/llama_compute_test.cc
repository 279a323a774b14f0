// Completions, against llama.cpp's own loop in the same OS process.
#include "backends/expect.h"
#include "backends/llama_models.h"

namespace wasinn::test {
namespace {

constexpr const char* kText = "the hen ate the oats, and then";

TEST(LlamaModel, IsDescribed) {
  const Host host;
  const LoadedModel model(host, TinyModel(), LlamaOptions());
  const auto description = json::parse(host.table().describe(model.get()));
  EXPECT_EQ(description["architecture"], "llama");
  EXPECT_EQ(description["trained_context"], 512);
  EXPECT_THAT(host.info()->framework, HasSubstr("llama.cpp"));
}

struct Case {
  const char* options;
  NativeSettings native;
};

class LlamaTokens : public ::testing::TestWithParam<Case> {};

TEST_P(LlamaTokens, AreThoseOfLlamaCppsOwnLoop) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"n-predict": 32})"));
  ASSERT_TRUE(SetPrompt(&context, kText));
  ASSERT_TRUE(SetOptions(&context, GetParam().options));
  const NativeCompletion native = NativeTiny().Complete(kText, GetParam().native);
  ASSERT_GT(native.tokens.size(), 16u);
  EXPECT_EQ(Complete(&context), Characters(native.bytes));
  const auto metadata = Metadata(&context);
  EXPECT_EQ(metadata["input_tokens"], native.prompt.size());
  EXPECT_EQ(metadata["output_tokens"], native.tokens.size());
  EXPECT_EQ(metadata["evaluated_tokens"], native.prompt.size());
  EXPECT_TRUE(metadata["llama_commit"].is_string());
  EXPECT_TRUE(metadata["llama_build_number"].is_number_integer());
  // And again: what is cached changes nothing.
  EXPECT_EQ(Complete(&context), Characters(native.bytes));
  EXPECT_EQ(Metadata(&context)["evaluated_tokens"], 1);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, LlamaTokens,
    ::testing::Values(
        Case{R"({"temp": 0})", {.temperature = 0}}, Case{R"({"seed": 7})", {.seed = 7}},
        Case{R"({"seed": 4294967294, "temp": 1.5})", {.temperature = 1.5F, .seed = 4294967294}},
        Case{R"({"seed": 3, "top-k": 5})", {.top_k = 5, .seed = 3}},
        Case{R"({"seed": 3, "top-k": 0, "top-p": 1, "min-p": 0})", {.top_k = 0, .top_p = 1, .min_p = 0, .seed = 3}},
        Case{R"({"seed": 3, "typical-p": 0.5})", {.typical_p = 0.5F, .seed = 3}},
        Case{R"({"temp": 0, "repeat-penalty": 1.5, "presence-penalty": 0.5, "frequency-penalty": 0.25})",
             {.temperature = 0, .repeat_penalty = 1.5F, .presence_penalty = 0.5F, .frequency_penalty = 0.25F}},
        Case{R"({"temp": 0, "repeat-penalty": 1.5, "repeat-last-n": 4})",
             {.temperature = 0, .repeat_penalty = 1.5F, .repeat_tokens = 4}},
        Case{R"({"temp": 0, "repeat-penalty": 1.5, "repeat-last-n": -1})",
             {.temperature = 0, .repeat_penalty = 1.5F, .repeat_tokens = 512}},
        Case{R"({"temp": 0, "repeat-penalty": 1.5, "repeat-last-n": 0})", {.temperature = 0}},
        Case{R"({"temp": 0, "dry-multiplier": 4})", {.temperature = 0, .dry_multiplier = 4}},
        Case{R"({"seed": 3, "xtc-probability": 0.5})", {.seed = 3, .xtc_probability = 0.5F}},
        Case{R"({"seed": 3, "mirostat": 1})", {.seed = 3, .mirostat = 1}},
        Case{R"({"seed": 3, "mirostat": 2})", {.seed = 3, .mirostat = 2}},
        Case{R"({"seed": 3, "logit-bias": {"270": 5}})", {.seed = 3, .logit_bias = {{270, 5}}}}));

TEST(LlamaModel, ByNameIsMappedFromItsFile) {
  const Host host;
  const std::string path = TemporaryFile("named.gguf", TinyModel());
  for (const char* config : {"{}", R"({"mmap": false})"}) {
    const LoadedModel model(host, TinyModel(), LlamaOptions(config, path));
    Context context(model);
    EXPECT_EQ(Complete(&context, kText, R"({"seed": 7, "n-predict": 32})"),
              Characters(NativeTiny().Complete(kText, {.seed = 7}).bytes));
  }
}

TEST(LlamaContext, ConversationsOnOneModelNeverMix) {
  const Host host;
  const Model model(host, TinyModel(), LlamaOptions(R"({"n-predict": 24, "seed": 5})"));
  const std::string texts[] = {"the one", "another one that is here"};
  Context first(model), second(model);
  Context* contexts[] = {&first, &second};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(SetPrompt(contexts[i], texts[i]));
  std::string streamed[2];
  // A step of this, a step of that.
  bool more[2] = {true, true};
  while (more[0] || more[1]) {
    for (int i = 0; i < 2; ++i) {
      const Result step = contexts[i]->Step();
      more[i] = static_cast<bool>(step);
      if (!more[i]) {
        EXPECT_EQ(step.code, WASINN_ERROR_END_OF_SEQUENCE) << step.message;
        continue;
      }
      std::string piece;
      ASSERT_TRUE(contexts[i]->Piece(kCompletion, &piece));
      streamed[i] += piece;
    }
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(streamed[i], Characters(NativeTiny().Complete(texts[i], {.predict = 24, .seed = 5}).bytes));
    EXPECT_EQ(Written(contexts[i]), streamed[i]);
  }
}

TEST(LlamaContext, EvaluatesOnlyNewTokensOfAPrompt) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"n-predict": 8, "temp": 0})"));
  EXPECT_NE(Complete(&context, kText), "");
  const uint64_t tokens = Metadata(&context)["input_tokens"];
  EXPECT_EQ(Metadata(&context)["evaluated_tokens"], tokens);
  const std::string longer = std::string(kText) + " the rest";
  EXPECT_EQ(Complete(&context, longer),
            Characters(NativeTiny().Complete(longer, {.predict = 8, .temperature = 0}).bytes));
  const uint64_t more = Metadata(&context)["input_tokens"];
  EXPECT_LE(Metadata(&context)["evaluated_tokens"], more - tokens + 1);
  EXPECT_GT(Metadata(&context)["evaluated_tokens"], 0);
  // A prompt that begins otherwise, of which only the first token is the same.
  EXPECT_EQ(Complete(&context, "0, 1"),
            Characters(NativeTiny().Complete("0, 1", {.predict = 8, .temperature = 0}).bytes));
  const uint64_t other = Metadata(&context)["input_tokens"];
  EXPECT_GE(Metadata(&context)["evaluated_tokens"], other - 2);
  EXPECT_EQ(CompleteWith(&context, R"({"cache-prompt": false})"),
            Characters(NativeTiny().Complete("0, 1", {.predict = 8, .temperature = 0}).bytes));
  EXPECT_EQ(Metadata(&context)["evaluated_tokens"], other);
}

TEST(LlamaContext, MetadataExistsBeforeACompute) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"n-predict": 3})"));
  EXPECT_EQ(Metadata(&context)["input_tokens"], 0);
  ASSERT_TRUE(SetPrompt(&context, kText));
  EXPECT_EQ(Metadata(&context)["input_tokens"], NativeTiny().Tokenize(kText).size());
  EXPECT_EQ(Metadata(&context)["output_tokens"], 0);
  ASSERT_TRUE(SetPrompt(&context, "a"));
  EXPECT_EQ(Metadata(&context)["input_tokens"], NativeTiny().Tokenize("a").size());
  Tensor completion;
  EXPECT_EQ(context.Get(kCompletion, &completion).code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(LlamaContext, EmbedsAText) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"embedding": true})"));
  ASSERT_TRUE(SetPrompt(&context, kText));
  const auto json = json::parse(Complete(&context));
  EXPECT_EQ(json["n_embedding"], 64);
  const std::vector<float> native = NativeTiny().Embed(kText), embedding = json["embedding"];
  ASSERT_EQ(embedding.size(), native.size());
  for (size_t i = 0; i < native.size(); ++i) EXPECT_FLOAT_EQ(embedding[i], native[i]) << i;
  // In steps: one piece.
  ASSERT_TRUE(context.Step());
  std::string piece;
  ASSERT_TRUE(context.Piece(kCompletion, &piece));
  EXPECT_EQ(json::parse(piece), json);
  EXPECT_EQ(context.Step().code, WASINN_ERROR_END_OF_SEQUENCE);
  // And back to text, by the options of one context.
  EXPECT_EQ(CompleteWith(&context, R"({"embedding": false, "seed": 7, "n-predict": 32})"),
            Characters(NativeTiny().Complete(kText, {.seed = 7}).bytes));
}

TEST(LlamaContext, ANewSizeNeedsANewContext) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"n-predict": 16, "seed": 2})"));
  ASSERT_TRUE(SetPrompt(&context, kText));
  const std::string expected = Characters(NativeTiny().Complete(kText, {.predict = 16, .seed = 2}).bytes);
  EXPECT_EQ(Complete(&context), expected);
  for (const char* options :
       {R"({"ctx-size": 100})", R"({"ctx-size": 64, "batch-size": 8, "ubatch-size": 3})", "{}", ""}) {
    EXPECT_EQ(CompleteWith(&context, options), expected) << options;
  }
}

TEST(LlamaGrammar, IsFollowed) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"seed": 3, "temp": 2})"));
  EXPECT_THAT(Complete(&context, kText, R"({"grammar": "root ::= \"the \" (\"hen\" | \"oats\") \"\\n\""})"),
              AnyOf("the hen\n", "the oats\n"))
      << "and ends by itself";
  EXPECT_THAT(CompleteWith(&context, R"({"grammar": "root ::= [0-9]{12}"})"), ::testing::MatchesRegex("[0-9]{12}"));
  for (const char* bad : {"start ::= \\\"a\\\"", "root ::= root \\\"a\\\" | \\\"b\\\"", "root ::= (((", "\\n",
                          "root ::= \\\"a\\\"{9999999}", "root ::= nothing"}) {
    const Result computed = ComputeWith(&context, std::string(R"({"grammar": ")") + bad + "\"}");
    EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT) << bad << computed.message;
    EXPECT_THAT(computed.message, HasSubstr("grammar"));
  }
  EXPECT_THAT(ComputeWith(&context, R"({"grammar": "root ::= \"a"})").message, HasSubstr("unexpected end of input"));
  EXPECT_EQ(ComputeWith(&context, R"({"grammar": "root ::= <[999999999]>"})").code, WASINN_ERROR_INVALID_ARGUMENT)
      << "there is no such token";
  // Deep, and a chain of many rules.
  std::string chain;
  for (int i = 0; i < 4000; ++i) chain += "r" + std::to_string(i) + "::=r" + std::to_string(i + 1) + "\\n";
  for (const std::string& bad :
       {"root ::= " + std::string(60000, '('), "root ::= r0\\n" + chain, "root ::= " + std::string(70000, 'a')}) {
    EXPECT_EQ(ComputeWith(&context, R"({"grammar": ")" + bad + "\"}").code, WASINN_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_TRUE(ComputeWith(&context, R"({"n-predict": 4})"));
}

// The number of possible continuations doubles with each token, and no deadline interrupts that.
TEST(LlamaGrammar, EndlessGrowthIsStopped) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"seed": 3, "temp": 0, "n-predict": 60})"));
  const Result computed = Ask(&context, kText, R"({"grammar": "root ::= \"a\" root \"b\" | \"a\" root \"c\""})");
  EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << computed.message;
  EXPECT_THAT(computed.message, HasSubstr("grammar: it takes more than"));
  EXPECT_TRUE(ComputeWith(&context, R"({"n-predict": 4})"));
}

TEST(LlamaGrammar, MayBeRefusedToGuests) {
  auto&& [host, model, context] =
      Opened(TinyModel(), LlamaOptions(R"({"n-predict": 4})"), R"({"guest_grammars": false})");
  ASSERT_TRUE(SetPrompt(&context, kText));
  for (const char* options : {R"({"grammar": "root ::= [a]"})", R"({"json-schema": {"type": "boolean"}})"}) {
    EXPECT_EQ(ComputeWith(&context, options).code, WASINN_ERROR_SECURITY);
  }
  const Model own(host, TinyModel(), LlamaOptions(R"({"n-predict": 4, "grammar": "root ::= [a]{2}"})"));
  Context allowed(own);
  EXPECT_EQ(Complete(&allowed, kText), "aa");
}

TEST(LlamaGrammar, EnforcesAJsonSchema) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"seed": 3, "temp": 1})"));
  ASSERT_TRUE(SetPrompt(&context, kText));
  const std::string schema =
      R"({"type": "object", "properties": {"hen": {"type": "boolean"}, "n": {"enum": [1, 2]}}, "required": ["hen", "n"]})";
  std::string quoted = json(schema).dump();
  for (const std::string& value : {schema, quoted}) {
    const std::string completion = CompleteWith(&context, "{\"json-schema\": " + value + "}");
    const auto json = json::parse(completion, nullptr, false);
    ASSERT_TRUE(json.is_object()) << completion;
    EXPECT_TRUE(json["hen"].is_boolean());
    EXPECT_THAT(json["n"], AnyOf(1, 2));
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += R"({"items": )";
  deep += "{}" + std::string(100, '}');
  const std::string pattern = R"({"type": "string", "pattern": "^)" + std::string(50000, '(') + R"($"})";
  for (const std::string& bad :
       {std::string(R"({"type": "nonsense"})"), std::string(R"("{\"type\"")"), std::string(R"({"$ref": "#/nowhere"})"),
        std::string(R"({"$ref": "file:///etc/passwd"})"), deep}) {
    const Result computed = ComputeWith(&context, "{\"json-schema\": " + bad + "}");
    EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT) << bad.substr(0, 100) << computed.message;
  }
  const Result computed = ComputeWith(&context, R"({"n-predict": 4, "json-schema": )" + pattern + "}");
  EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(computed.message, HasSubstr("\"pattern\" cannot be enforced"));
}

}  // namespace
}  // namespace wasinn::test
