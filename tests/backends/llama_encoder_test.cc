// Models that only read: they make embeddings, or score a text. llama.cpp itself aborts on misuse.
#include "backends/expect.h"
#include "backends/llama_guest.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

constexpr char kTwentyWords[] = "the a b c d e f g h i j k l m n o p q r s";

std::string EncoderPath(const std::string& name) {
  return testing::InSources("tests/models/encoder/" + name) + ".gguf";
}

struct Encoder {
  explicit Encoder(const std::string& name, const std::string& host_config = "{}")
      : model(host, ReadFile(EncoderPath(name)), LlamaOptions(host_config, EncoderPath(name))) {}
  const Host host;
  const LoadedModel model;
};

// Every way to ask it for text.
void ExpectNoText(const std::string& name) {
  const Encoder encoder(name);
  for (const char* options :
       {R"({"embedding":false,"ubatch-size":16})", R"({"ubatch-size":1,"batch-size":1})", R"({"n-predict":4})",
        R"({"ctx-size":1})", R"({"ctx-size":0,"ubatch-size":16})", R"({"temp":0,"grammar":"root ::= [a-z]+"})",
        R"({"decode":true,"position":0})", R"({"ctx-size":16777216,"batch-size":16777216,"ubatch-size":16777216})"}) {
    for (const char* prompt : {kTwentyWords, "the", "the a"}) {
      Context context(encoder.model);
      EXPECT_FALSE(Ask(&context, prompt, options)) << prompt << options;
      EXPECT_FALSE(context.Step());
    }
  }
}

TEST(LlamaEncoder, GeneratesNothing) {
  for (const char* name : {"embedder", "ranker", "classifier"}) ExpectNoText(name);
  for (const char* name : {"embedder", "ranker"}) {
    const Encoder encoder(name);
    Context context(encoder.model);
    const Result refused = Ask(&context, "the", R"({"embedding":false})");
    EXPECT_EQ(refused.code, WASINN_ERROR_UNSUPPORTED_OPERATION) << refused.message;
    EXPECT_THAT(refused.message, HasSubstr("embedding"));
    EXPECT_EQ(context.Step().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
    Tensor completion;
    EXPECT_FALSE(context.Get(kCompletion, &completion)) << "no memory that was never written";
    EXPECT_TRUE(Ask(&context, "the", R"({"embedding":true})"));
  }
}

TEST(LlamaEncoder, EmbedsAText) {
  const Encoder encoder("embedder");
  Context context(encoder.model), other(encoder.model);
  for (const char* options : {R"({"embedding":true})", R"({"embedding":true,"ubatch-size":1,"batch-size":1})"}) {
    ASSERT_TRUE(Ask(&context, kTwentyWords, options));
    const auto json = json::parse(Written(&context));
    EXPECT_EQ(json["n_embedding"], 32);
    const std::vector<float> values = json["embedding"];
    ASSERT_EQ(values.size(), 32u);
    double length = 0;
    for (const float value : values) length += double{value} * value;
    EXPECT_NEAR(length, 1, 1e-4);
  }
  const std::string whole = Written(&context);
  ASSERT_TRUE(Ask(&other, "the cat", R"({"embedding":true})"));
  EXPECT_NE(Written(&other), whole);
}

Tensor Embeddings(Context* context) { return MustGet(context, kEmbeddings); }

TEST(LlamaEncoder, EmbedsManyTextsAtOnce) {
  const Encoder encoder("embedder");
  Context context(encoder.model);
  const std::vector<std::string> texts = {"the cat", kTwentyWords, "the"};
  std::vector<float> one_by_one;
  size_t tokens = 0;
  for (const std::string& text : texts) {
    ASSERT_TRUE(Ask(&context, text, R"({"embedding":true})"));
    const Tensor embedding = Embeddings(&context);
    EXPECT_THAT(embedding.dims, ElementsAre(1, 32));
    for (const float value : embedding.As<float>()) one_by_one.push_back(value);
    tokens += size_t(Metadata(&context)["input_tokens"]);
  }
  ASSERT_TRUE(Ask(&context, json(texts).dump(), R"({"embedding":true,"texts":true})"));
  const Tensor together = Embeddings(&context);
  EXPECT_THAT(together.dims, ElementsAre(3, 32));
  EXPECT_EQ(together.As<float>(), one_by_one);
  EXPECT_EQ(Metadata(&context)["input_tokens"], tokens);
  EXPECT_EQ(Written(&context), R"({"n_embedding":32,"n_texts":3})");
  ASSERT_TRUE(Ask(&context, "the cat", R"({"tokenize":true})"));
  EXPECT_THAT(Embeddings(&context).bytes, "") << "nothing of the compute before";
}

TEST(LlamaEncoder, NormalizesByTheKey) {
  const Encoder encoder("embedder");
  Context context(encoder.model);
  const auto norm = [&](int kind, const auto& measure) {
    EXPECT_TRUE(Ask(&context, "the cat", R"({"embedding":true,"embd-normalize":)" + std::to_string(kind) + "}"));
    double sum = 0;
    for (const float value : Embeddings(&context).template As<float>()) sum = measure(sum, std::abs(double{value}));
    return sum;
  };
  const auto most = [](double a, double b) { return std::max(a, b); };
  EXPECT_NEAR(norm(0, most), 32760, 0.1);
  EXPECT_NEAR(norm(1, [](double a, double b) { return a + b; }), 1, 1e-4);
  EXPECT_NEAR(norm(3, [](double a, double b) { return a + b * b * b; }), 1, 1e-4);
  EXPECT_GT(std::abs(norm(-1, [](double a, double b) { return a + b * b; }) - 1), 1e-3) << "as the model computes it";
  EXPECT_EQ(Ask(&context, "the cat", R"({"embedding":true,"embd-normalize":-2})").code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(LlamaEncoder, RanksDocuments) {
  const Encoder encoder("ranker");
  Context context(encoder.model);
  const std::string request = R"({"query": "the cat", "documents": ["a b c", "the cat", "q r s t"]})";
  ASSERT_TRUE(Ask(&context, request, R"({"rerank":true})"));
  const Tensor scores = Embeddings(&context);
  EXPECT_THAT(scores.dims, ElementsAre(3, 1));
  const std::vector<float> values = scores.As<float>();
  ASSERT_EQ(values.size(), 3u);
  EXPECT_NE(values[0], values[1]);
  ASSERT_TRUE(Ask(&context, R"({"query": "the cat", "documents": ["q r s t"]})", R"({"rerank":true})"));
  EXPECT_EQ(Embeddings(&context).As<float>()[0], values[2]) << "whatever else there is";
}

// For an empty text: the tokens that the tokenizer puts around a text.
TEST(LlamaEncoder, AcceptsEmptyTextsAndTokensBetweenTexts) {
  const Encoder encoder("embedder");
  Context context(encoder.model);
  ASSERT_TRUE(Ask(&context, R"(["", "the cat", ["the cat"], [5, "the cat"]])", R"({"embedding":true,"texts":true})"));
  const Tensor output = Embeddings(&context);
  ASSERT_EQ(output.dims[0], 4);
  const size_t row = output.bytes.size() / 4;
  EXPECT_EQ(output.bytes.substr(row, row), output.bytes.substr(2 * row, row)) << "a list of one text is that text";
  EXPECT_NE(output.bytes.substr(row, row), output.bytes.substr(3 * row, row));
  EXPECT_NE(output.bytes.substr(0, row), output.bytes.substr(row, row));
}

TEST(LlamaEncoder, ChecksTextsAndDocuments) {
  const Encoder encoder("ranker");
  Context context(encoder.model);
  std::vector<std::string> many(3000, "a");
  for (const std::string& bad :
       {std::string("the"), std::string("[]"), std::string("[1]"), std::string("{}"), std::string("[\"a\", []]"),
        std::string("[[\"\"]]"), std::string("[[\"a\", -1]]"), json(many).dump()}) {
    EXPECT_EQ(Ask(&context, bad, R"({"embedding":true,"texts":true})").code, WASINN_ERROR_INVALID_ARGUMENT)
        << bad.substr(0, 50);
  }
  for (const char* bad : {"the", "[]", "{}", R"({"query": "a"})", R"({"query": 1, "documents": ["a"]})",
                          R"({"query": "a", "documents": []})", R"({"query": "a", "documents": [1]})"}) {
    EXPECT_EQ(Ask(&context, bad, R"({"rerank":true})").code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
  }
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "a ";
  EXPECT_EQ(Ask(&context, json{{"query", "a"}, {"documents", {text}}}.dump(), R"({"rerank":true})").code,
            WASINN_ERROR_PROMPT_TOO_LONG);
  // No tokens are made of what cannot fit.
  for (const json& request : {json{{"query", "a"}, {"documents", {std::string(1 << 20, 'a')}}},
                              json{{"query", std::string(1 << 20, 'a')}, {"documents", {"a"}}}}) {
    const Result refused = Ask(&context, request.dump(), R"({"rerank":true})");
    EXPECT_EQ(refused.code, WASINN_ERROR_PROMPT_TOO_LONG);
    EXPECT_THAT(refused.message, HasSubstr("1048576 bytes"));
  }
  for (const char* options : {R"({"texts":true})", R"({"rerank":true,"chat":true})",
                              R"({"rerank":true,"tokenize":true})", R"({"rerank":true,"texts":true})"}) {
    EXPECT_EQ(Ask(&context, "[\"a\"]", options).code, WASINN_ERROR_INVALID_ARGUMENT) << options;
  }
  const Encoder other("embedder");
  Context plain(other.model);
  EXPECT_EQ(Ask(&plain, R"({"query": "a", "documents": ["b"]})", R"({"rerank":true})").code,
            WASINN_ERROR_UNSUPPORTED_OPERATION);
}

// A query is there once for each document.
TEST(LlamaEncoder, ChargesTokensOfManyTexts) {
  const Encoder encoder("ranker");
  Account guest;
  Context context(encoder.model, 0, "{}", &guest);
  const auto request = [](size_t documents) {
    return json{{"query", kTwentyWords}, {"documents", std::vector<std::string>(documents, "a")}}.dump();
  };
  ASSERT_TRUE(Ask(&context, request(1), R"({"rerank":true})"));
  guest.limit = guest.used + (100U << 10);
  EXPECT_EQ(Ask(&context, request(2048), R"({"rerank":true})").code, WASINN_ERROR_TOO_LARGE);
  EXPECT_TRUE(Ask(&context, request(16), R"({"rerank":true})"));
}

TEST(LlamaEncoder, ManyTextsAreReadOnlyInComputes) {
  const Encoder encoder("ranker");
  Account guest;
  Context context(encoder.model, 0, "{}", &guest);
  const json request = {{"query", kTwentyWords}, {"documents", std::vector<std::string>(2048, "a")}};
  ASSERT_TRUE(SetOptions(&context, R"({"rerank":true})"));
  ASSERT_TRUE(SetPrompt(&context, request.dump()));
  EXPECT_EQ(Metadata(&context)["input_tokens"], 0);
  EXPECT_EQ(guest.most, 0U);
  ASSERT_TRUE(context.Compute());
  EXPECT_EQ(Metadata(&context)["input_tokens"], 2048 * 23);
}

// As many numbers as the model has labels, as the model computes them: not as many as an embedding has.
TEST(LlamaEncoder, ScoresAText) {
  for (const auto& [name, labels] : {std::pair<const char*, size_t>{"ranker", 1}, {"classifier", 3}}) {
    const Encoder encoder(name);
    Context context(encoder.model);
    std::vector<float> first;
    for (const char* prompt : {kTwentyWords, "the"}) {
      const Result computed = Ask(&context, prompt, R"({"embedding":true})");
      ASSERT_TRUE(computed) << computed.message;
      const auto json = json::parse(Written(&context));
      EXPECT_EQ(json["n_embedding"], labels) << name;
      const std::vector<float> scores = json["embedding"];
      ASSERT_EQ(scores.size(), labels) << name;
      EXPECT_NE(scores, first) << "another text, another score";
      EXPECT_NE(std::abs(scores[0]), 1) << "no length of 1";
      first = scores;
    }
  }
}

// A position that the model has no embedding for aborts llama.cpp, whatever the host says of the context's size.
TEST(LlamaEncoder, HasPositionsForItsContextOnly) {
  const Encoder encoder("embedder", R"({"ctx-size":1024})");
  Context context(encoder.model);
  std::string prompt;
  for (int i = 0; i < 200; ++i) prompt += "a ";
  for (const char* options : {R"({"embedding":true})", R"({"embedding":true,"ctx-size":512})"}) {
    EXPECT_EQ(Ask(&context, prompt, options).code, WASINN_ERROR_PROMPT_TOO_LONG);
  }
}

TEST(LlamaEncoder, IsNotDecodedInParallel) {
  const Host host;
  const std::string path = EncoderPath("embedder");
  const Model model(host, ReadFile(path), LlamaOptions(R"({"parallel":2})", path));
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION) << model.loaded().message;
}

}  // namespace
}  // namespace wasinn::test
