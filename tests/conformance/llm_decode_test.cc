// Guests that choose the tokens of a language model themselves, on the real engine and framework.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "llm_run.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kLicence[] = "GNU General Public";

CommandResult Search(std::vector<std::string> args, const std::vector<std::string>& flags = LlmFlags()) {
  const CommandResult result = RunGuest(flags, "beam-search", args);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result;
}

std::string Greedy(int n, const std::string& prompt) {
  return prompt + RunLlm({"basic", "lm", Json{{"temp", 0}, {"n-predict", n}}.dump(), prompt}).One("output");
}

// The log-probability of the first text.
double Score(const CommandResult& result) {
  constexpr char kBefore[] = "log-probability ";
  const size_t at = result.err.find(kBefore);
  EXPECT_NE(at, std::string::npos) << result.err;
  return at == std::string::npos ? 0 : std::stod(result.err.substr(at + sizeof(kBefore) - 1));
}

TEST(LlmDecode, OneBeamIsWhatTheHostGenerates) {
  for (const char* prompt : {kLicence, "Coffee: un caf", "Numbers: one two"}) {
    EXPECT_EQ(Search({"--n-predict", "40", prompt}).out, Greedy(40, prompt) + "\n");
  }
  const CommandResult answer = Search({"--n-predict", "100", Question("Thank you.")});
  EXPECT_EQ(answer.out, Question("Thank you.") + "You are welcome.\n") << "it ends where the model does";
}

TEST(LlmDecode, ManyBeamsAreNoWorse) {
  const CommandResult one = Search({"--n-predict", "12", kLicence}),
                      four = Search({"--n-predict", "12", "--beams", "4", kLicence});
  const std::vector<std::string> texts = Lines(four.out);
  EXPECT_GE(texts.size(), 4u);
  EXPECT_GE(Score(four), Score(one) - 0.01);
}

TEST(LlmDecode, TogetherWithOthers) {
  const TempFolder folder;
  const std::string settings = (folder.path() / "wasinn.toml").string();
  std::ofstream(settings) << "[models.lm]\npath = \"" + InSources("models/tiny.gguf") +
                                 "\"\n[models.lm.config]\nparallel = 2\n";
  const std::vector<std::string> flags = LlmFlags({"--config", settings});
  EXPECT_EQ(Search({"--n-predict", "40", kLicence}, flags).out, Greedy(40, kLicence) + "\n");
  EXPECT_EQ(Search({"--n-predict", "8", "--beams", "3", kLicence}, flags).out,
            Search({"--n-predict", "8", "--beams", "3", kLicence}).out);
}

Bytes BytesOf(const std::string& text) { return {text.begin(), text.end()}; }

std::string Text(int index, const std::string& text) {
  return Script::Set("set 0 " + std::to_string(index) + " 3 " + std::to_string(text.size()), BytesOf(text));
}

// As witx numbers them: 4 is i32.
std::string Chosen(const std::vector<int32_t>& tokens) {
  Bytes bytes(tokens.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), tokens.data(), bytes.size());
  return Script::Set("setname 0 tokens 4 " + std::to_string(tokens.size()), bytes);
}

class LlmDecodeHostile : public ::testing::Test {
 protected:
  // What a compute of these is refused with, in words; the same context works afterwards.
  std::string Refused(const std::string& options, const std::vector<int32_t>& tokens, uint32_t error) const {
    Script script;
    script.Do("name 0 lm").Do("context 0 0").Do(Text(0, kLicence)).Do(Text(1, options)).Do(Chosen(tokens));
    script.Fails("compute 0", error).Do("error").Fails("getname 0 logits", WASI_NN_INVALID_ARGUMENT);
    script.Do(Text(1, R"({"decode":true})")).Do(Chosen({1, 2})).Do("compute 0").Do("getname 0 logits");
    const auto answers = script.Run(LlmFlags(), folder_.path());
    EXPECT_GT(answers.back().bytes.size(), 1000u);
    return {answers[6].bytes.begin(), answers[6].bytes.end()};
  }

  const TempFolder folder_;
};

TEST_F(LlmDecodeHostile, WhatIsOutside) {
  for (const int32_t token : {-1, INT32_MAX, INT32_MIN, 1 << 20}) {
    EXPECT_THAT(Refused(R"({"decode":true})", {1, token}, WASI_NN_INVALID_ARGUMENT), HasSubstr("tokens: number "));
  }
  for (const char* position : {"-1", "1000", "2147483648", "1e99", "0.5", "\"0\""}) {
    EXPECT_THAT(
        Refused(std::string(R"({"decode":true,"position":)") + position + "}", {1, 2}, WASI_NN_INVALID_ARGUMENT),
        HasSubstr("position"));
  }
  for (const char* top : {"-1", "2147483648", "2147483647", "1e10"}) {
    EXPECT_THAT(Refused(std::string(R"({"decode":true,"top-logits":)") + top + "}", {1, 2}, WASI_NN_INVALID_ARGUMENT),
                HasSubstr("top-logits"));
  }
  EXPECT_THAT(Refused(R"({"decode":true,"restore-state":"other"})", {1, 2}, WASI_NN_NOT_FOUND), HasSubstr("other"));
  EXPECT_THAT(Refused(R"({"decode":true,"ctx-size":64})", std::vector<int32_t>(64, 5), WASI_NN_PROMPT_TOO_LONG),
              HasSubstr("the context has 64"));
}

TEST_F(LlmDecodeHostile, TensorsThatAreNoTokens) {
  Script script;
  script.Do("name 0 lm").Do("context 0 0").Do(Text(0, kLicence)).Do(Text(1, R"({"decode":true})"));
  const Bytes eight(8);
  for (const char* tensor : {"setname 0 tokens 5 1", "setname 0 tokens 1 2", "setname 0 tokens 3 8",
                             "setname 0 tokens 4 3", "setname 0 tokens 4 2,1"}) {
    script.Fails(Script::Set(tensor, eight), WASI_NN_INVALID_ARGUMENT);
  }
  script.Do("compute 0").Do("getname 0 logits");
  script.Run(LlmFlags(), folder_.path());
}

// A deadline ends a step, and the next one has what the guest says.
TEST_F(LlmDecodeHostile, DeadlineInAStep) {
  std::ofstream settings(folder_.path() / "wasinn.toml");
  settings << "[models.lm]\npath = \"" + InSources("models/tiny.gguf") +
                  "\"\n[models.lm.config]\nctx-size = 100000\nubatch-size = 8\n";
  settings.close();
  Script script;
  script.Do("name 0 lm").Do("context 0 0").Do(Text(0, kLicence)).Do(Text(1, R"({"decode":true,"top-logits":1})"));
  script.Do("compute 0").Do("getname 0 logit_tokens").Do(Chosen(std::vector<int32_t>(90000, 5)));
  script.Fails("compute 0", WASI_NN_RUNTIME_ERROR)
      .Do("error")
      .Do(Chosen({}))
      .Do("compute 0")
      .Do("getname 0 logit_tokens");
  const auto answers = script.Run(
      LlmFlags({"--config", (folder_.path() / "wasinn.toml").string(), "--nn-timeout", "1s"}), folder_.path());
  EXPECT_THAT(std::string(answers[8].bytes.begin(), answers[8].bytes.end()), HasSubstr("was stopped after 1000 ms"));
  EXPECT_EQ(answers.back().bytes, answers[5].bytes);
}

}  // namespace
}  // namespace wasinn::testing
