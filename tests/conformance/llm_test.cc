// What guests in the field do with language models, from a real guest on the real engine and framework.
#include "llm_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr char kGnu[] = "GNU General Public";
constexpr char kCoffee[] = "Coffee: un caf";  // goes on with letters of two, three and four bytes

// The likeliest tokens.
std::string Greedy(int n) { return Json{{"temp", 0}, {"n-predict", n}}.dump(); }

std::string Joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

// Whole characters, and no bytes that are none: nlohmann's own check.
bool IsUtf8(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::ignore) ==
         Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

TEST(Llm, Basic) {
  const LlmAnswer answer = RunLlm({"basic", "lm", Greedy(16), kGnu});
  EXPECT_THAT(answer.One("output"), StartsWith(" License"));
  const Json metadata = Json::parse(answer.One("metadata"));
  EXPECT_EQ(metadata.at("output_tokens"), 16);
  EXPECT_GT(metadata.at("input_tokens"), 2);
  EXPECT_LT(metadata.at("input_tokens"), 10);
  EXPECT_THAT(metadata.at("llama_commit").get<std::string>(), ::testing::Not(""));
  EXPECT_TRUE(metadata.at("llama_build_number").is_number_integer());
}

TEST(Llm, TheQuantisedModelKnowsTheSame) {
  const LlmAnswer answer = RunLlm({"basic", "q", Greedy(16), kGnu}, {"--model", TinyQuantisedLm("q")});
  EXPECT_THAT(answer.One("output"), StartsWith(" License"));
}

TEST(Llm, OptionsAsInput) {
  EXPECT_EQ(RunLlm({"options", "lm", Greedy(24), kGnu}).One("output"),
            RunLlm({"basic", "lm", Greedy(24), kGnu}).One("output"));
}

TEST(Llm, ChatMl) {
  const std::string config = Json{{"temp", 0}}.dump();
  const LlmAnswer answer = RunLlm({"chatml", "lm", config, "Who are you?", "Thank you."});
  const auto outputs = answer.All("output"), metadata = answer.All("metadata");
  ASSERT_EQ(outputs.size(), 2u) << answer.err;
  EXPECT_EQ(outputs[0], "I am a tiny language model. I learned a few licences by heart.");
  EXPECT_EQ(outputs[1], "You are welcome.");
  // The second prompt holds the first one and its answer.
  const auto tokens = [&](int i, const char* name) { return Json::parse(metadata.at(i)).at(name).get<int>(); };
  EXPECT_GT(tokens(1, "input_tokens"), tokens(0, "input_tokens") + tokens(0, "output_tokens"));
}

TEST(Llm, Stream) {
  const LlmAnswer answer = RunLlm({"stream", "lm", Greedy(40), kGnu});
  const std::vector<std::string> pieces = answer.All("piece");
  EXPECT_GT(pieces.size(), 30u);
  EXPECT_LE(pieces.size(), 40u);
  EXPECT_EQ(Joined(pieces), answer.One("output"));
  EXPECT_EQ(Joined(pieces), RunLlm({"basic", "lm", Greedy(40), kGnu}).One("output"));
  EXPECT_EQ(Json::parse(answer.One("metadata")).at("output_tokens"), 40);
  const LlmAnswer::Line& end = answer.lines.at(pieces.size());
  EXPECT_EQ(end.name, "compute_single");
  EXPECT_EQ(end.error, uint32_t{WASI_NN_END_OF_SEQUENCE});
}

TEST(Llm, PiecesAreWholeCharacters) {
  const LlmAnswer answer = RunLlm({"stream", "lm", Greedy(40), kCoffee});
  for (const std::string& piece : answer.All("piece"))
    EXPECT_TRUE(IsUtf8(piece)) << ToHex({piece.begin(), piece.end()});
  EXPECT_THAT(Joined(answer.All("piece")), StartsWith("é crème, déjà bu; 咖啡 ☕"));
}

// However few tokens there may be, half a character is not among what comes.
TEST(Llm, TheLastCharacterIsWhole) {
  for (int n = 1; n < 8; ++n) {
    EXPECT_TRUE(IsUtf8(RunLlm({"basic", "lm", Greedy(n), "Coffee: un café crème, déjà bu;"}).One("output"))) << n;
  }
}

TEST(Llm, StreamThatFillsTheContext) {
  const std::string config = Json{{"temp", 0}, {"ctx-size", 256}}.dump();
  const LlmAnswer answer = RunLlm({"stream", "lm", config, kGnu});
  EXPECT_GT(answer.All("piece").size(), 200u);
  EXPECT_LT(answer.All("piece").size(), 256u);
  EXPECT_EQ(answer.lines.at(answer.All("piece").size()).error, uint32_t{WASI_NN_CONTEXT_FULL});
  EXPECT_EQ(answer.One("output"), Joined(answer.All("piece")));
  // All at once it is the same, and the text may be read.
  const LlmAnswer whole = RunLlm({"basic", "lm", config, kGnu});
  EXPECT_EQ(whole.lines.at(0).error, uint32_t{WASI_NN_CONTEXT_FULL});
  EXPECT_EQ(whole.One("output"), answer.One("output"));
}

TEST(Llm, TwoStreamsOfOneGraphDoNotMix) {
  const LlmAnswer both = RunLlm({"two-streams", "lm", Greedy(48), kGnu, kCoffee});
  EXPECT_EQ(Joined(both.All("a")), RunLlm({"basic", "lm", Greedy(48), kGnu}).One("output"));
  EXPECT_EQ(Joined(both.All("b")), RunLlm({"basic", "lm", Greedy(48), kCoffee}).One("output"));
}

TEST(Llm, TheSeedDecides) {
  const auto text = [](int seed) {
    const Json config = {{"temp", 2.5}, {"top-k", 0}, {"top-p", 1.0}, {"min-p", 0}, {"n-predict", 32}, {"seed", seed}};
    return RunLlm({"basic", "lm", config.dump(), kGnu}).One("output");
  };
  EXPECT_EQ(text(7), text(7));
  EXPECT_NE(text(7), text(8));
}

TEST(Llm, Grammar) {
  const Json config = {{"temp", 0}, {"grammar", R"(root ::= [0-9] [0-9]? " apples")"}};
  for (const char* command : {"basic", "options"}) {
    const std::string text = RunLlm({command, "lm", config.dump(), kGnu}).One("output");
    EXPECT_TRUE(std::regex_match(text, std::regex("[0-9]{1,2} apples"))) << command << ": " << text;
  }
}

TEST(Llm, JsonSchema) {
  const Json schema = {{"type", "object"},
                       {"properties", {{"free", {{"type", "boolean"}}}, {"name", {{"enum", {"GPL", "BSD"}}}}}},
                       {"required", {"free", "name"}},
                       {"additionalProperties", false}};
  const Json config = {{"temp", 0}, {"n-predict", 100}, {"json-schema", schema.dump()}};
  const std::string text = RunLlm({"basic", "lm", config.dump(), kGnu}).One("output");
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(object.is_object()) << text;
  EXPECT_EQ(object.size(), 2u) << text;
  EXPECT_TRUE(object.at("free").is_boolean()) << text;
  EXPECT_TRUE(object.at("name") == "GPL" || object.at("name") == "BSD") << text;
}

TEST(Llm, ReversePrompt) {
  const Json config = {{"temp", 0}, {"n-predict", 100}, {"reverse-prompt", "four"}};
  const std::string text = RunLlm({"basic", "lm", config.dump(), "Numbers: one two"}).One("output");
  EXPECT_THAT(text, AllOf(StartsWith(" three"), ::testing::Not(HasSubstr("five"))));
}

TEST(Llm, Embedding) {
  const std::string config = Json{{"embedding", true}}.dump();
  const auto embedding = [&](const char* text) {
    const Json output = Json::parse(RunLlm({"embedding", "lm", config, text}).One("output"));
    EXPECT_EQ(output.at("n_embedding"), 128);
    return output.at("embedding").get<std::vector<float>>();
  };
  const std::vector<float> gnu = embedding(kGnu), coffee = embedding(kCoffee);
  EXPECT_EQ(gnu.size(), 128u);
  EXPECT_NE(gnu, coffee);
  EXPECT_EQ(gnu, embedding(kGnu));
}

TEST(Llm, MultiModel) {
  const LlmAnswer answer =
      RunLlm({"multi-model", "lm", Greedy(12), "q", kGnu}, {"--model", TinyLm(), "--model", TinyQuantisedLm("q")});
  const auto outputs = answer.All("output");
  ASSERT_EQ(outputs.size(), 2u) << answer.err;
  EXPECT_THAT(outputs[0], StartsWith(" License"));
  EXPECT_EQ(outputs[1],
            RunLlm({"basic", "q", Greedy(12), kGnu + outputs[0]}, {"--model", TinyQuantisedLm("q")}).One("output"));
}

TEST(Llm, ModelNotFound) {
  const LlmAnswer unknown = RunLlm({"basic", "gpt", "", kGnu});
  EXPECT_EQ(unknown.lines.at(0).name, "load_by_name");
  EXPECT_EQ(unknown.lines.at(0).error, uint32_t{WASI_NN_NOT_FOUND});
  EXPECT_EQ(RunLlm({"basic", "gpt", Greedy(3), kGnu}).lines.at(0).error, uint32_t{WASI_NN_NOT_FOUND});
}

// A name that is known, whose file has gone. The standard has no number for it.
TEST(Llm, ModelWhoseFileIsMissing) {
  const TempFolder folder;
  std::filesystem::copy_file(InSources("models/tiny.gguf"), folder.path() / "m.gguf");
  const std::string model = "m=" + (folder.path() / "m.gguf").string();
  for (const bool wasmedge : {false, true}) {
    const std::vector<std::string> flags = {"--model", model, "--dialect", wasmedge ? "wasmedge" : "witx"};
    Script script;
    script.Do("rename /files/m.gguf /files/gone");
    script.Fails("name 0 m", wasmedge ? WASI_NN_MODEL_NOT_FOUND : WASI_NN_NOT_FOUND);
    script.Do("rename /files/gone /files/m.gguf").Do("name 0 m");
    script.Run(LlmFlags(flags), folder.path());
  }
}

TEST(Llm, SetInputTwice) {
  const auto outputs = RunLlm({"set-input-twice", "lm", Greedy(20), kGnu, kCoffee}).All("output");
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0], RunLlm({"basic", "lm", Greedy(20), kGnu}).One("output"));
  EXPECT_EQ(outputs[1], RunLlm({"basic", "lm", Greedy(20), kCoffee}).One("output"));
}

// The beginning is that of the prompt before: what is kept of it changes nothing.
TEST(Llm, PromptsWithTheSameBeginning) {
  const std::string shorter = "Everyone is permitted to copy", longer = shorter + " and distribute";
  const auto outputs = RunLlm({"set-input-twice", "lm", Greedy(20), longer, shorter}).All("output");
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0], RunLlm({"basic", "lm", Greedy(20), longer}).One("output"));
  EXPECT_EQ(outputs[1], RunLlm({"basic", "lm", Greedy(20), shorter}).One("output"));
}

TEST(Llm, Unload) {
  for (const std::string& config : {std::string(), Greedy(8)}) {
    const LlmAnswer answer = RunLlm({"unload", "lm", config, "10", Question("Thank you.")},
                                    {"--model", TinyLm(), "--nn-max-graphs", "1", "--nn-max-contexts", "1"});
    EXPECT_EQ(answer.All("output").size(), 10u) << answer.err;
  }
}

}  // namespace
}  // namespace wasinn::testing
