// A small model that guesses for a model: the tokens are those of the model.
#include "backends/expect.h"
#include "backends/llama_decoder.h"
#include "backends/llama_models.h"

namespace wasinn::test {
namespace {

const std::string kDraftedText = "the hen ate the oats, and the other one";

// One that guesses right each time; one that guesses as it happens; one that does sometimes.
const std::string& Itself() {
  static const std::string path = TemporaryFile("itself.gguf", WideModel());
  return path;
}
const std::string& Another() {
  static const std::string path = TemporaryFile("another.gguf", TinyLlamaWriter({.layers = 1, .seed = 7}).Write());
  return path;
}
// The model, but with other numbers here and there.
const std::string& Relative() {
  static const std::string path = [] {
    GgufWriter writer = TinyLlamaWriter({.embedding = 128, .heads = 4, .kv_heads = 2, .feed_forward = 128});
    for (GgufWriter::Tensor& tensor : writer.tensors) {
      if (tensor.name == "blk.1.ffn_down.weight") tensor.bytes.assign(tensor.bytes.size(), '\0');
    }
    return TemporaryFile("relative.gguf", writer.Write());
  }();
  return path;
}

LoadOptions WithDraft(const std::string& draft, json options = json::object()) {
  options["temp"] = options.value("temp", 0.0);
  options["n-predict"] = options.value("n-predict", 48);
  options["draft"] = draft;
  options["draft-p-min"] = options.value("draft-p-min", 0.0);
  return LlamaOptions(options.dump());
}

std::string ExpectedDrafted(const std::string& text, int32_t n) {
  static const NativeLlama native(Itself());
  return Characters(native.Complete(text, {.predict = n, .temperature = 0}).bytes);
}

class LlamaDraft : public ::testing::TestWithParam<const std::string& (*)()> {
 protected:
  const Host host_;
};

INSTANTIATE_TEST_SUITE_P(Of, LlamaDraft, ::testing::Values(Itself, Another, Relative));

TEST_P(LlamaDraft, ChangesNoToken) {
  for (const int most : {1, 3, 16}) {
    const LoadedModel model(host_, WideModel(), WithDraft(GetParam()(), {{"draft-max", most}}));
    Context context(model);
    for (const char* text : {"the hen", kDraftedText.c_str(), "oats"}) {
      EXPECT_EQ(Complete(&context, text), ExpectedDrafted(text, 48)) << text << most;
      EXPECT_EQ(Metadata(&context)["output_tokens"], 48);
      EXPECT_GT(Metadata(&context)["drafted_tokens"], 0);
      EXPECT_LE(Metadata(&context)["accepted_tokens"], Metadata(&context)["drafted_tokens"]);
    }
  }
}

// Compared by the model's text, even if it is sampled: the same seed gives the same text.
TEST_P(LlamaDraft, ChangesNoSampledToken) {
  const json settings = {{"temp", 1.2}, {"top-k", 0}, {"min-p", 0}, {"repeat-penalty", 1.1}, {"n-predict", 64}};
  const Model model(host_, WideModel(), WithDraft(GetParam()(), settings));
  const Model plain(host_, WideModel(), LlamaOptions(settings.dump()));
  Context drafted(model), alone(plain);
  for (int seed = 0; seed < 6; ++seed) {
    for (Context* context : {&drafted, &alone}) {
      ASSERT_TRUE(SetPrompt(context, kDraftedText));
      ASSERT_TRUE(SetOptions(context, json{{"seed", seed}}.dump()));
    }
    EXPECT_EQ(Complete(&drafted), Complete(&alone)) << seed;
  }
  EXPECT_GT(Metadata(&drafted)["drafted_tokens"], 0);
}

TEST_P(LlamaDraft, EndsAtTheSameToken) {
  const Model model(host_, WideModel(), WithDraft(GetParam()()));
  const Model plain(host_, WideModel(), LlamaOptions(R"({"temp": 0, "n-predict": 48})"));
  Account guest;
  Context drafted(model, 0, "{}", &guest), alone(plain);
  const std::string whole = ExpectedDrafted(kDraftedText, 48);
  // One that comes in it.
  const size_t at = whole.find_first_of("abcdefghijklmnopqrstuvwxyz", 20);
  ASSERT_NE(at, std::string::npos);
  const std::string letter(1, whole[at]);
  const json bias = {{"logit-bias", {{"2", 7.5}}}, {"temp", 1}, {"seed", 3}, {"n-predict", 200}};
  for (const json& options :
       {json{{"n-predict", 1}}, json{{"n-predict", 2}}, json{{"n-predict", 7}}, json{{"n-predict", 0}},
        json{{"reverse-prompt", letter}}, json{{"grammar", R"(root ::= [a-h]{5} "," [a-z ]{3})"}}, bias,
        json{{"n-probs", 2}, {"n-predict", 5}}, json{{"n-predict", -1}, {"ctx-size", 64}},
        json{{"n-predict", 120}, {"ctx-size", 64}, {"context-shift", true}, {"keep", 4}}}) {
    Result results[2];
    std::string texts[2], probabilities[2];
    json metadata[2];
    for (const int i : {0, 1}) {
      Context* const context = i == 0 ? &drafted : &alone;
      ASSERT_TRUE(SetPrompt(context, kDraftedText));
      ASSERT_TRUE(SetOptions(context, options.dump()));
      results[i] = context->Compute();
      texts[i] = Written(context);
      metadata[i] = Metadata(context);
      Tensor output;
      if (context->Get(kProbabilities, &output)) probabilities[i] = output.bytes;
    }
    EXPECT_EQ(results[0].code, results[1].code) << options << results[0].message;
    EXPECT_EQ(texts[0], texts[1]) << options;
    EXPECT_EQ(probabilities[0], probabilities[1]) << options;
    for (const char* name : {"output_tokens", "finish_reason", "context_shifts", "discarded_tokens"}) {
      EXPECT_EQ(metadata[0][name], metadata[1][name]) << name << options;
    }
  }
}

// Pieces come one by one, and what is saved is no more than what was said.
TEST_P(LlamaDraft, KeepsEvaluatedTokens) {
  const Model model(host_, WideModel(), WithDraft(GetParam()(), {{"n-predict", 13}}));
  Account guest;
  Context first(model, 0, "{}", &guest), second(model, 0, "{}", &guest);
  ASSERT_TRUE(SetPrompt(&first, kDraftedText));
  ASSERT_TRUE(SetOptions(&first, R"({"save-state": "talk"})"));
  std::string all, piece;
  size_t pieces = 0;
  for (; first.Step(); ++pieces) {
    ASSERT_TRUE(first.Piece(kCompletion, &piece));
    all += piece;
  }
  EXPECT_EQ(pieces, 13u);
  EXPECT_EQ(all, ExpectedDrafted(kDraftedText, 13));
  EXPECT_EQ(Metadata(&first)["states"][0]["tokens"], size_t(Metadata(&first)["input_tokens"]) + 12);
  EXPECT_EQ(Complete(&second, kDraftedText + all, R"({"restore-state": "talk"})"),
            ExpectedDrafted(kDraftedText + all, 13));
  // Left in the middle.
  ASSERT_TRUE(SetPrompt(&first, "oats"));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(first.Step());
  ASSERT_TRUE(first.Finish());
  EXPECT_EQ(Complete(&first), ExpectedDrafted("oats", 13));
  // A guest that chooses itself, next to it.
  ASSERT_TRUE(Decode(&first, {}, {{"top-logits", 1}}));
  EXPECT_EQ(Complete(&first), Complete(&first));
}

// Guesses take more rows of logits than there may be texts.
TEST(LlamaDrafts, LeaveSeveralTextsAlone) {
  const Host host;
  const Model drafted(host, WideModel(), WithDraft(Itself(), {{"draft-max", 64}})),
      plain(host, WideModel(), LlamaOptions(R"({"temp": 0})"));
  Context guesses(drafted), alone(plain);
  const Tensor texts = MakeTensor(WASINN_DTYPE_I32, {2, 3}, Tokens{5, 9, 23, 5, 9, 40});
  for (int round = 0; round < 2; ++round) {
    for (Context* context : {&guesses, &alone}) {
      ASSERT_TRUE(SetPrompt(context, ""));
      ASSERT_TRUE(SetOptions(context, R"({"decode": true})"));
      ASSERT_TRUE(context->Set(kTokens, texts));
      const Result decoded = context->Compute();
      ASSERT_TRUE(decoded) << decoded.message;
    }
    const std::vector<float> actual = LogitsOf(&guesses), expected = LogitsOf(&alone);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 5e-3) << i;
    EXPECT_EQ(Complete(&guesses, kDraftedText, R"({"n-predict": 48})"), ExpectedDrafted(kDraftedText, 48));
  }
}

TEST(LlamaDrafts, StopAtAnImprobableToken) {
  const Host host;
  uint64_t drafted[3] = {}, accepted[3] = {};
  const double sure[] = {0, 0.5, 1};
  for (const int i : {0, 1, 2}) {
    const Model model(host, WideModel(), WithDraft(Itself(), {{"draft-p-min", sure[i]}, {"draft-max", 4}}));
    Context context(model);
    EXPECT_EQ(Complete(&context, kDraftedText), ExpectedDrafted(kDraftedText, 48));
    drafted[i] = Metadata(&context)["drafted_tokens"];
    accepted[i] = Metadata(&context)["accepted_tokens"];
  }
  EXPECT_EQ(drafted[0], accepted[0]) << "it guesses for itself";
  EXPECT_GT(drafted[0], 30u);
  EXPECT_LT(drafted[1], drafted[0]);
  EXPECT_EQ(drafted[2], 0u);
  const Model model(host, WideModel(), WithDraft(Another(), {{"draft-max", 4}, {"draft-min", 4}}));
  Context context(model);
  EXPECT_EQ(Complete(&context, kDraftedText), ExpectedDrafted(kDraftedText, 48));
  EXPECT_EQ(int(Metadata(&context)["drafted_tokens"]) % 4, 0) << "four or none";
}

TEST(LlamaDrafts, UnsuitableModelsAreRefused) {
  const Host host;
  const auto refused = [&host](const json& options) {
    const Model model(host, WideModel(), LlamaOptions(options.dump()));
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ARGUMENT) << options << model.loaded().message;
    return model.loaded().message;
  };
  EXPECT_THAT(refused({{"draft", "itself.gguf"}}), HasSubstr("draft"));
  EXPECT_THAT(refused({{"draft", "/nowhere/model.gguf"}}), HasSubstr("No such file"));
  EXPECT_THAT(refused({{"draft", TemporaryFile("empty.gguf", "")}}), HasSubstr("is empty"));
  EXPECT_THAT(refused({{"draft", Itself()}, {"parallel", 2}}), HasSubstr("parallel"));
  EXPECT_THAT(refused({{"draft", Itself()}, {"draft-max", 4}, {"draft-min", 5}}), HasSubstr("draft-min"));
  for (const char* key : {"draft-max", "draft-min"}) {
    for (const int n : {-1, 0, 65}) EXPECT_THAT(refused({{"draft", Itself()}, {key, n}}), HasSubstr(key));
  }
  EXPECT_THAT(refused({{"draft", Itself()}, {"draft-p-min", 2}}), HasSubstr("draft-p-min"));
  // Other tokens.
  EXPECT_THAT(refused({{"draft", ModelPath("tiny.gguf")}}), HasSubstr("tokens"));
  GgufWriter writer = TinyLlamaWriter();
  std::vector<std::string> tokens = TinyVocabulary();
  std::swap(tokens[270], tokens[271]);
  std::erase_if(writer.values, [](const GgufWriter::Value& value) { return value.key == "tokenizer.ggml.tokens"; });
  writer.SetTexts("tokenizer.ggml.tokens", tokens);
  EXPECT_THAT(refused({{"draft", TemporaryFile("swapped.gguf", writer.Write())}}), HasSubstr("its token 270"));
  const Model broken(host, WideModel(), WithDraft(TemporaryFile("junk.gguf", "GGUF junk")));
  EXPECT_EQ(broken.loaded().code, WASINN_ERROR_INVALID_ENCODING) << broken.loaded().message;
  // It is the host's to say.
  LoadOptions of_guest = LlamaOptions(R"({"temp": 0, "n-predict": 8})");
  of_guest.guest_config = json{{"draft", Itself()}}.dump();
  const LoadedModel guests(host, WideModel(), of_guest);
  Context context(guests, 0, json{{"draft", Itself()}}.dump());
  ASSERT_TRUE(ComputeOn(&context, kDraftedText));
  EXPECT_EQ(Metadata(&context)["drafted_tokens"], 0);
}

TEST(LlamaDrafts, AreChargedToTheGuest) {
  const Host host;
  const Model model(host, WideModel(), WithDraft(Itself())),
      plain(host, WideModel(), LlamaOptions(R"({"n-predict": 4})"));
  Account with, without;
  {
    Context drafted(model, 0, "{}", &with), alone(plain, 0, "{}", &without);
    for (Context* context : {&drafted, &alone}) {
      ASSERT_TRUE(ComputeOn(context, kDraftedText));
    }
    EXPECT_GT(with.used, 2 * without.used - without.used / 2);
    Account little;
    little.limit = without.used + without.used / 2;
    Context refused(model, 0, "{}", &little);
    EXPECT_EQ(ComputeOn(&refused, kDraftedText).code, WASINN_ERROR_TOO_LARGE);
    EXPECT_EQ(little.used, 0u);
  }
  EXPECT_EQ(with.used, 0u);
}

TEST(LlamaCancelDraft, EndsAGeneration) {
  auto&& [host, model, context] = Opened(WideModel(), WithDraft(Another(), json::parse(kWithoutEnd)));
  ASSERT_TRUE(SetPrompt(&context, "the hen"));
  ExpectCancellable(&context);
  const std::string text = CompleteWith(&context, R"({"n-predict": 8})");
  EXPECT_EQ(Complete(&context), text);
}

}  // namespace
}  // namespace wasinn::test
