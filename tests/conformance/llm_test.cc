// What guests in the field do with language models, from a real guest on the real engine and framework.
#include "llm_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

using Json = nlohmann::json;

constexpr char kGnu[] = "GNU General Public";

// The likeliest tokens.
std::string Greedy(int n) { return Json{{"temp", 0}, {"n-predict", n}}.dump(); }

std::string Completion(int n, const std::string& prompt) {
  return RunLlm({"basic", "lm", Greedy(n), prompt}).One("output");
}

TEST(Llm, CompletesAPrompt) {
  const LlmAnswer answer = RunLlm({"basic", "lm", Greedy(16), kGnu});
  EXPECT_THAT(answer.One("output"), ::testing::StartsWith(" License"));
  const Json metadata = Json::parse(answer.One("metadata"));
  EXPECT_EQ(metadata.at("output_tokens"), 16);
  EXPECT_GT(metadata.at("input_tokens"), 2);
  EXPECT_LT(metadata.at("input_tokens"), 10);
  EXPECT_THAT(metadata.at("llama_commit").get<std::string>(), ::testing::Not(""));
  EXPECT_TRUE(metadata.at("llama_build_number").is_number_integer());
}

TEST(Llm, TakesOptionsAsAnInput) {
  EXPECT_EQ(RunLlm({"options", "lm", Greedy(24), kGnu}).One("output"), Completion(24, kGnu));
}

TEST(Llm, StreamsTheSameText) {
  const LlmAnswer answer = RunLlm({"stream", "lm", Greedy(40), kGnu});
  const std::vector<std::string> pieces = answer.All("piece");
  EXPECT_GT(pieces.size(), 30u);
  EXPECT_LE(pieces.size(), 40u);
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  EXPECT_EQ(text, answer.One("output"));
  EXPECT_EQ(text, Completion(40, kGnu));
  EXPECT_EQ(Json::parse(answer.One("metadata")).at("output_tokens"), 40);
  const LlmAnswer::Line& end = answer.lines.at(pieces.size());
  EXPECT_EQ(end.name, "compute_single");
  EXPECT_EQ(end.error, uint32_t{WASI_NN_END_OF_SEQUENCE});
}

TEST(Llm, RefusesStepsInAWrongOrder) {
  const auto text = [](int input, const std::string& bytes) {
    return Script::Set("set 0 " + std::to_string(input) + " 3 " + std::to_string(bytes.size()),
                       {bytes.begin(), bytes.end()});
  };
  Script script;
  script.Do("name 0 lm").Do("context 0 0");
  script.Fails("single 0", WASI_NN_INVALID_ARGUMENT).Fails("piece 0 0", WASI_NN_INVALID_ARGUMENT);
  script.Do("fini 0").Do("fini 0").Fails("get 0 0", WASI_NN_INVALID_ARGUMENT);
  script.Do(text(1, Greedy(4))).Fails("single 0", WASI_NN_INVALID_ARGUMENT).Do(text(0, kGnu));
  script.Fails("piece 0 0", WASI_NN_INVALID_ARGUMENT).Do("single 0").Fails("piece 0 10", WASI_NN_INVALID_ARGUMENT);
  script.Do("piece 0 0").Fails("piece 0 0 1", WASI_NN_TOO_LARGE);
  for (int i = 1; i < 4; ++i) script.Do("single 0").Do("piece 0 0");
  script.Fails("single 0", WASI_NN_END_OF_SEQUENCE).Fails("single 0", WASI_NN_END_OF_SEQUENCE).Do("get 0 0");
  script.Do("fini 0").Do("fini 0").Do("single 0").Do(text(0, kGnu)).Fails("piece 0 0", WASI_NN_INVALID_ARGUMENT);
  // A compute ends a stream.
  script.Do("single 0").Do("compute 0").Do("get 0 0").Fails("piece 0 0", WASI_NN_INVALID_ARGUMENT).Do("single 0");
  script.Do("finalize 0").Fails("single 0", WASI_NN_INVALID_ARGUMENT).Fails("fini 0", WASI_NN_INVALID_ARGUMENT);
  const TempFolder folder;
  script.Run(LlmFlags(), folder.path());
}

// The example that chooses the tokens itself.
CommandResult Search(const std::vector<std::string>& args) {
  const CommandResult result = RunGuest(LlmFlags(), "beam-search", args);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result;
}

TEST(LlmDecode, OneBeamIsWhatTheHostGenerates) {
  for (const std::string prompt : {kGnu, "Coffee: un caf", "Numbers: one two"}) {
    EXPECT_EQ(Search({"--n-predict", "40", prompt}).out, prompt + Completion(40, prompt) + "\n");
  }
  const CommandResult answer = Search({"--n-predict", "100", Question("Thank you.")});
  EXPECT_EQ(answer.out, Question("Thank you.") + "You are welcome.\n") << "it ends where the model does";
}

TEST(LlmDecode, ManyBeamsAreNoWorse) {
  // The log-probability of the first text.
  const auto score = [](const CommandResult& result) {
    constexpr std::string_view kBefore = "log-probability ";
    const size_t at = result.err.find(kBefore);
    EXPECT_NE(at, std::string::npos) << result.err;
    return at == std::string::npos ? 0 : std::stod(result.err.substr(at + kBefore.size()));
  };
  const CommandResult four = Search({"--n-predict", "12", "--beams", "4", kGnu});
  EXPECT_GE(Lines(four.out).size(), 4u);
  EXPECT_GE(score(four), score(Search({"--n-predict", "12", kGnu})) - 0.01);
}

}  // namespace
}  // namespace wasinn::testing
