// Models that only read: they make embeddings, or score a text. In child processes, since llama.cpp aborts on misuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backends/crashes.h"
#include "backends/llama_guest.h"

namespace wasinn::test {
namespace {

using ::testing::HasSubstr;

constexpr char kTwentyWords[] = "the a b c d e f g h i j k l m n o p q r s";

std::string EncoderPath(const std::string& name) { return std::string(WASINN_TEST_ENCODERS "/") + name + ".gguf"; }

LoadOptions Named(const std::string& path, const std::string& host_config = "{}") {
  return LlamaOptions(host_config, path);
}

struct Encoder {
  explicit Encoder(const std::string& name, const std::string& host_config = "{}")
      : model(host, ReadFile(EncoderPath(name)), Named(EncoderPath(name), host_config)) {
    EXPECT_TRUE(model.loaded()) << model.loaded().message;
  }
  const Host host;
  const Model model;
};

Result Ask(Context* context, const std::string& prompt, const std::string& options) {
  EXPECT_TRUE(SetPrompt(context, prompt));
  EXPECT_TRUE(SetOptions(context, options));
  return context->Compute();
}

// Every way to ask it for text.
bool AskForText(const std::string& name) {
  const Encoder encoder(name);
  for (const char* options :
       {R"({"embedding":false,"ubatch-size":16})", R"({"ubatch-size":1,"batch-size":1})", R"({"n-predict":4})",
        R"({"ctx-size":1})", R"({"ctx-size":0,"ubatch-size":16})", R"({"temp":0,"grammar":"root ::= [a-z]+"})",
        R"({"ctx-size":16777216,"batch-size":16777216,"ubatch-size":16777216})"}) {
    for (const char* prompt : {kTwentyWords, "the", "the a"}) {
      Context context(encoder.model);
      const Result computed = Ask(&context, prompt, options);
      if (computed || context.Step()) return true;
    }
  }
  return false;
}

TEST(LlamaEncoder, GeneratesNothing) {
  Crashes crashes(AskForText);
  for (const char* name : {"embedder", "ranker", "classifier"}) crashes.Try(name, name);
  crashes.ExpectNone();
  EXPECT_EQ(crashes.loaded(), 0u) << "none of them answered";
  for (const char* name : {"embedder", "ranker"}) {
    const Encoder encoder(name);
    Context context(encoder.model);
    const Result refused = Ask(&context, "the", R"({"embedding":false})");
    EXPECT_EQ(refused.code, WASINN_UNSUPPORTED_OPERATION) << refused.message;
    EXPECT_THAT(refused.message, HasSubstr("embedding"));
    EXPECT_EQ(context.Step().code, WASINN_UNSUPPORTED_OPERATION);
    Tensor completion;
    EXPECT_FALSE(context.Get(kCompletion, &completion)) << "nothing that nobody wrote";
    EXPECT_TRUE(Ask(&context, "the", R"({"embedding":true})"));
  }
}

TEST(LlamaEncoder, EmbedsAText) {
  const Encoder encoder("embedder");
  Context context(encoder.model), other(encoder.model);
  for (const char* options : {R"({"embedding":true})", R"({"embedding":true,"ubatch-size":1,"batch-size":1})"}) {
    const Result computed = Ask(&context, kTwentyWords, options);
    ASSERT_TRUE(computed) << computed.message;
    const auto json = nlohmann::json::parse(Written(&context));
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

// As many numbers as the model has labels, as the model computes them: not as many as an embedding has.
TEST(LlamaEncoder, ScoresAText) {
  for (const auto& [name, labels] : {std::pair<const char*, size_t>{"ranker", 1}, {"classifier", 3}}) {
    const Encoder encoder(name);
    Context context(encoder.model);
    std::vector<float> first;
    for (const char* prompt : {kTwentyWords, "the"}) {
      const Result computed = Ask(&context, prompt, R"({"embedding":true})");
      ASSERT_TRUE(computed) << computed.message;
      const auto json = nlohmann::json::parse(Written(&context));
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
bool LongText(const std::string& options) {
  const Encoder encoder("embedder", R"({"ctx-size":1024})");
  Context context(encoder.model);
  std::string prompt;
  for (int i = 0; i < 200; ++i) prompt += "a ";
  const Result computed = Ask(&context, prompt, options);
  EXPECT_EQ(computed.code, WASINN_PROMPT_TOO_LONG) << computed.message;
  if (computed.code != WASINN_PROMPT_TOO_LONG) std::abort();
  return false;
}

TEST(LlamaEncoder, HasPositionsForItsContextOnly) {
  Crashes crashes(LongText);
  for (const char* options : {R"({"embedding":true})", R"({"embedding":true,"ctx-size":512})"}) {
    crashes.Try(options, options);
  }
  crashes.ExpectNone();
}

bool LoadParallel(const std::string& name) {
  const Host host;
  const Model model(host, ReadFile(EncoderPath(name)), Named(EncoderPath(name), R"({"parallel":2})"));
  EXPECT_EQ(model.loaded().code, WASINN_UNSUPPORTED_OPERATION) << model.loaded().message;
  return false;
}

TEST(LlamaEncoder, IsNotDecodedInParallel) {
  Crashes crashes(LoadParallel);
  crashes.Try("embedder", "embedder");
  crashes.ExpectNone();
  EXPECT_FALSE(LoadParallel("embedder"));
}

}  // namespace
}  // namespace wasinn::test
