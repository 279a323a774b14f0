// SmolLM2, which answers as an assistant: from a guest as natively, by its own chat template and tokens.
#include <nlohmann/json.hpp>

#include "llm_run.h"
#include "support/test.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

using Json = nlohmann::json;

const std::string kModel = InSources(".deps/share/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
constexpr char kQuestion[] = R"([{"role": "user", "content": "What is gravity?"}])";
// The default text of the model's template.
constexpr char kPrompt[] =
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
    "<|im_start|>user\nWhat is gravity?<|im_end|>\n<|im_start|>assistant\n";

// Sixteen tokens by llama.cpp's own loop.
std::string Native() {
  const TestFolder folder;
  const std::string in = folder.path() / "in", out = folder.path() / "out";
  std::ofstream(in, std::ios::binary) << kPrompt;
  const CommandResult run = RunCommand({InTestsBuild("bin/reference_llama"), "u8", std::to_string(sizeof(kPrompt) - 1),
                                        in, out, "prompt", "completion", kModel});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Bytes bytes = ReadBytes(out);
  return {bytes.begin(), bytes.end()};
}

TEST(SmolLm2, AnswersAsItDoesNatively) {
  ASSERT_TRUE(std::filesystem::exists(kModel))
      << "the model is missing: scripts/deps.sh real-models fetches it; then configure again";
  const std::string options = Json{{"temp", 0}, {"n-predict", 16}, {"ctx-size", 512}, {"chat", true}}.dump();
  const LlmAnswer answer = RunLlm({"basic", "lm", options, kQuestion}, {"--model", std::string("lm=") + kModel});
  EXPECT_EQ(answer.One("output"), Native()) << answer.err;
  EXPECT_THAT(answer.One("output"), ::testing::HasSubstr("Gravity is"));
}

constexpr char kHistory[] = "The history of the Roman Empire is";

// A guest that takes the likeliest token each time has the text that the host generates.
TEST(SmolLm2, IsDecodedByAGuestAsItGenerates) {
  const std::string model = std::string("lm=") + kModel, options = Json{{"temp", 0}, {"n-predict", 24}}.dump();
  const CommandResult decoded = RunGuest(LlmFlags({"--model", model}), "beam-search", {"--n-predict", "24", kHistory});
  EXPECT_EQ(decoded.exit_code, 0) << decoded.err;
  EXPECT_EQ(decoded.out,
            kHistory + RunLlm({"basic", "lm", options, kHistory}, {"--model", model}).One("output") + "\n");
}

CommandResult RunDecoder(const std::string& guest, const std::vector<std::string>& args) {
  const CommandResult result = RunGuest(LlmFlags({"--model", std::string("lm=") + kModel}), guest, args);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result;
}

// Its grammar knows JSON, and the model what belongs there.
TEST(SmolLm2, WritesJsonByAGuestsGrammar) {
  const CommandResult made = RunDecoder("constrained-json", {"A person as JSON with the keys name, age and city: "});
  const Json person = Json::parse(made.out, nullptr, false);
  EXPECT_TRUE(person.is_object()) << made.out;
  EXPECT_TRUE(person.contains("name") && person["age"].is_number_integer()) << made.out;
}

// A guest has guesses checked several at a time.
TEST(SmolLm2, IsGuessedForFromThePrompt) {
  const std::string cat = "The cat sat on the mat. The cat sat on the mat. The cat sat";
  const CommandResult guessed = RunDecoder("prompt-lookup", {"--n-predict", "40", cat});
  EXPECT_EQ(guessed.out, RunDecoder("beam-search", {"--n-predict", "40", cat}).out);
  EXPECT_THAT(guessed.err, ::testing::MatchesRegex("  40 tokens in [123].? passes\n"));
}

// Nor does a draft change it.
TEST(SmolLm2, SaysTheSameWithADraft) {
  const TestFolder folder;
  const std::string settings = (folder.path() / "wasinn.toml").string(),
                    options = Json{{"temp", 0}, {"n-predict", 24}}.dump();
  std::ofstream(settings) << "[models.lm]\npath = \"" << kModel << "\"\n[models.lm.config]\ndraft = \"" << kModel
                          << "\"\nctx-size = 512\n";
  const LlmAnswer drafted = RunLlm({"basic", "lm", options, kHistory}, {"--config", settings});
  EXPECT_EQ(drafted.One("output"),
            RunLlm({"basic", "lm", options, kHistory}, {"--model", std::string("lm=") + kModel}).One("output"));
  const Json metadata = Json::parse(drafted.One("metadata"));
  EXPECT_GT(metadata.at("accepted_tokens"), 4);
}

// The example agent; Go's guests are not in every build.
#ifdef HAS_AGENT
TEST(SmolLm2, CallsATool) {
  const CommandResult reported = RunGuest(
      LlmFlags({"--model", std::string("lm=") + kModel, "--dir", InSources("examples/agent/weather") + "::/weather"}),
      "agent", {"What is the weather in Rome?"});
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_THAT(reported.err, ::testing::HasSubstr(R"("place": "Rome")"));
  EXPECT_THAT(reported.out, ::testing::HasSubstr("24 degrees")) << "which only the tool has returned";
}
#endif

}  // namespace
}  // namespace wasinn::testing
