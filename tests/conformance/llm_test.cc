// The uses of language models by guests in the field, from a real guest on the real engine and framework.
#include "llm_run.h"

#include <nlohmann/json.hpp>
#include <regex>

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
  const TestFolder folder;
  script.Run(LlmFlags(), folder.path());
}

// The examples that choose the tokens themselves.
CommandResult RunDecoder(const std::string& guest, const std::vector<std::string>& args) {
  const CommandResult result = RunGuest(LlmFlags(), guest, args);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result;
}
CommandResult Search(const std::vector<std::string>& args) { return RunDecoder("beam-search", args); }

// The numbers that a guest printed in the words of `pattern`, which has one group for each.
std::vector<double> Numbers(const std::string& text, const std::string& pattern) {
  std::vector<double> numbers;
  std::smatch found;
  EXPECT_TRUE(std::regex_search(text, found, std::regex(pattern))) << text;
  for (size_t i = 1; i < found.size(); ++i) numbers.push_back(std::stod(found[i]));
  return numbers;
}

double Evaluated(const CommandResult& result) {
  return Numbers(result.err, "([0-9]+) tokens evaluated in [0-9]+ passes").at(0);
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
    return Numbers(result.err, "log-probability (-?[0-9.]+)").at(0);
  };
  const CommandResult four = Search({"--n-predict", "12", "--beams", "4", kGnu});
  EXPECT_GE(Lines(four.out).size(), 4u);
  EXPECT_GE(score(four), score(Search({"--n-predict", "12", kGnu})) - 0.01);
  // The prompt without its last token is evaluated once, and one token of each beam each time.
  const double one = Evaluated(Search({"--n-predict", "12", kGnu}));
  EXPECT_EQ(Evaluated(four), one + 12 * 3);
}

TEST(LlmDecode, TheBestOfManyHasTheHighestScore) {
  const std::vector<std::string> args = {"--n-predict", "12", "--n", "4", "--temp", "1.5", kGnu};
  const CommandResult result = RunDecoder("best-of-n", args);
  std::vector<std::pair<double, std::string>> texts;
  const std::regex line("  (-?[0-9.]+) a token:(.*)");
  for (const std::string& text : Lines(result.err)) {
    std::smatch found;
    if (std::regex_match(text, found, line)) texts.emplace_back(std::stod(found[1]), found[2]);
  }
  EXPECT_GE(texts.size(), 2u) << result.err;
  const auto best = std::ranges::max_element(texts);
  EXPECT_THAT(result.out, ::testing::StartsWith(kGnu + best->second)) << result.err;
  EXPECT_LT(std::ranges::min_element(texts)->first, best->first) << "they differ";
  // The prompt is evaluated once for all of them, except its last token; a text that has ended, no more.
  const double prompt = Evaluated(Search({"--n-predict", "1", kGnu}));
  EXPECT_LE(Evaluated(result), prompt - 1 + 12 * 4);
  EXPECT_EQ(RunDecoder("best-of-n", {"--n-predict", "40", "--n", "3", "--temp", "0", kGnu}).out,
            kGnu + Completion(40, kGnu) + "\n");
}

TEST(LlmDecode, GuessesFromThePromptChangeNothing) {
  for (const std::string prompt : {kGnu, "GNU General Public License. GNU General"}) {
    const CommandResult result = RunDecoder("prompt-lookup", {"--n-predict", "40", prompt});
    EXPECT_EQ(result.out, prompt + Completion(40, prompt) + "\n");
    const std::vector<double> reported = Numbers(result.err, "([0-9]+) tokens in ([0-9]+) passes");
    EXPECT_EQ(reported.at(0), 40);
    EXPECT_LT(reported.at(1), prompt == kGnu ? 41 : 40) << "some passes have several tokens";
  }
  EXPECT_EQ(RunDecoder("prompt-lookup", {"--n-predict", "100", Question("Thank you.")}).out,
            Question("Thank you.") + "You are welcome.\n")
      << "it ends where the model does";
}

TEST(LlmDecode, AGuestsGrammarMakesJson) {
  for (const std::string n : {"0", "1", "2", "5", "10", "40", "80"}) {
    const CommandResult result = RunDecoder("constrained-json", {"--n-predict", n, kGnu});
    EXPECT_TRUE(Json::accept(result.out)) << result.out;
    EXPECT_TRUE(Json::parse(result.out, nullptr, false).is_object()) << result.out;
    const std::vector<double> bytes = Numbers(result.err, "([0-9]+) bytes by the model, ([0-9]+) by the program");
    EXPECT_EQ(bytes.at(0) + bytes.at(1), result.out.size() - 1);
    EXPECT_GE(bytes.at(0), std::stod(n)) << "at least one for each token";
  }
}

}  // namespace
}  // namespace wasinn::testing
