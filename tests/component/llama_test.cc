// A language model through components: prompt and options are named tensors, the text comes whole or piece by piece.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <wasinn/wasmtime.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "component/puppet.h"
#include "support/echo.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint32_t kU8 = 4, kI32 = 5;  // tensor-type
constexpr uint32_t kResult = 128, kList = 160, kNames = 256, kTokensName = 384, kBytes = 512;
// The last ones are step_probabilities, logits, logit_tokens, step_tokens, generation.
constexpr size_t kOutputs = 10;
constexpr char kPrompt[] = "GNU General Public";
constexpr char kOptions[] = R"({"temp": 0, "n-predict": 8, "threads": 1})";

class ComponentLlama : public ::testing::Test {
 protected:
  ComponentLlama() {
    const ConfigPtr config(wasinn_config_new());
    const std::string toml = "backend_dirs = ['" + InThisBuild("lib/wasinn") + "']\n[models.lm]\npath = '" +
                             InSources("models/tiny.gguf") + "'\n";
    StatusPtr status(wasinn_config_load_toml(config.get(), toml.c_str()));
    EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
    wasinn_host* host = nullptr;
    status.reset(wasinn_host_new(config.get(), &Log::Write, &log_, &host));
    EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
    host_.reset(host);
    guest_ = NewGuest(host);
    program_ = std::make_unique<Puppet>(Show(), guest_.get());
    wasinn_wasmtime_component_set_up(program_->context(), guest_.get());
  }

  static const PuppetShow& Show() {
    static wasm_engine_t* const engine = wasm_engine_new();
    static wasmtime_component_linker_t* const linker = [] {
      wasmtime_component_linker_t* made = wasmtime_component_linker_new(engine);
      const StatusPtr status(LinkPuppets(made));
      EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
      return made;
    }();
    static const PuppetShow show(engine, linker, PuppetText(kOctober));
    return show;
  }

  // Calls what gives a result; its resource.
  uint32_t Good(const char* function, std::initializer_list<uint32_t> args) {
    program_->Call(function, args);
    EXPECT_EQ(program_->Peek(kResult) & 0xff, 0u) << function << ": " << log_.lines().back();
    return program_->Peek(kResult + 4);
  }

  uint32_t Context(std::string_view config = "") {
    program_->Poke(0, "lm");
    program_->Poke(2, config);
    const uint32_t graph = Good("load-with", {0, 2, 2, static_cast<uint32_t>(config.size()), kResult});
    return Good("init", {graph, kResult});
  }

  uint32_t NewText(std::string_view text) {
    program_->PokeWords(0, {static_cast<uint32_t>(text.size())});
    program_->Poke(kBytes, text);
    return program_->Call("tensor-new", {0, 1, kU8, kBytes, static_cast<uint32_t>(text.size())});
  }

  // The list of named tensors at kList; how many there are.
  uint32_t Inputs(std::string_view prompt, std::string_view options) {
    program_->Poke(kNames, "promptoptions");
    const uint32_t first = NewText(prompt);
    program_->PokeWords(kList, {kNames, 6, first});
    if (options.empty()) return 1;
    const uint32_t second = NewText(options);
    program_->PokeWords(kList + 12, {kNames + 6, 7, second});
    return 2;
  }

  uint32_t NewTokens(const std::vector<int32_t>& tokens) {
    const std::string_view bytes(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(int32_t));
    program_->PokeWords(0, {static_cast<uint32_t>(tokens.size())});
    program_->Poke(kBytes, bytes);
    return program_->Call("tensor-new", {0, 1, kI32, kBytes, static_cast<uint32_t>(bytes.size())});
  }

  std::string TextOf(uint32_t tensor) {
    program_->Call("tensor-data", {tensor, kResult});
    std::string text = program_->PeekBytes(program_->Peek(kResult), program_->Peek(kResult + 4));
    program_->Call("tensor-drop", {tensor});
    return text;
  }

  std::string Output(uint32_t context, std::string_view name) {
    program_->Poke(kNames, name);
    return TextOf(Good("output", {context, kNames, static_cast<uint32_t>(name.size()), kResult}));
  }

  // All outputs of compute, in the model's order.
  std::vector<std::string> Compute(uint32_t context, std::string_view prompt, std::string_view options,
                                   const std::vector<int32_t>& tokens = {}) {
    uint32_t inputs = Inputs(prompt, options);
    if (!tokens.empty()) {
      program_->Poke(kTokensName, "tokens");
      program_->PokeWords(kList + 12 * inputs, {kTokensName, 6, NewTokens(tokens)});
      ++inputs;
    }
    const uint32_t list = Good("compute", {context, kList, inputs, kResult});
    const uint32_t count = program_->Peek(kResult + 8);
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < count; ++i) texts.push_back(TextOf(program_->Peek(list + 12 * i + 8)));
    return texts;
  }

  // A piece, or "(end)".
  std::string Next(uint32_t context) {
    Good("next", {context, kResult});
    if ((program_->Peek(kResult + 4) & 0xff) == 0) return "(end)";
    return program_->PeekBytes(program_->Peek(kResult + 8), program_->Peek(kResult + 12));
  }

  Log log_;
  HostPtr host_;
  GuestPtr guest_;
  std::unique_ptr<Puppet> program_;
};

TEST_F(ComponentLlama, ComputesACompletionAndMetadata) {
  const uint32_t context = Context();
  const std::vector<std::string> outputs = Compute(context, kPrompt, kOptions);
  ASSERT_EQ(outputs.size(), kOutputs);
  EXPECT_THAT(outputs[0], StartsWith(" License"));
  EXPECT_THAT(outputs[1], HasSubstr(R"("output_tokens":8)"));
  for (size_t i = 2; i < kOutputs; ++i) EXPECT_EQ(outputs[i], "") << "which was not asked for";
}

TEST_F(ComponentLlama, ReportsWhatWasAskedFor) {
  const std::vector<std::string> outputs = Compute(Context(), kPrompt, R"({"n-predict": 8, "report": true})");
  ASSERT_EQ(outputs.size(), kOutputs);
  EXPECT_THAT(outputs[9], HasSubstr(R"("n-predict":8)"));
}

TEST_F(ComponentLlama, GivesMessageAndProbabilitiesThatAreAskedFor) {
  const std::vector<std::string> outputs =
      Compute(Context(), R"([{"role": "user", "content": "Who are you?"}])",
              R"({"temp": 0, "n-predict": 8, "threads": 1, "chat": true, "n-probs": 1})");
  ASSERT_EQ(outputs.size(), kOutputs);
  EXPECT_THAT(outputs[2], HasSubstr(R"({"role":"assistant","content":"I am a )"));
  EXPECT_THAT(outputs[3], StartsWith(R"([{"token":)"));
}

TEST_F(ComponentLlama, LeavesItToTheGuestWhichTokenComes) {
  const uint32_t context = Context();
  const std::string generated = Compute(context, kPrompt, kOptions)[0];
  std::vector<int32_t> tokens;
  for (int i = 0; i < 8; ++i) {
    const auto outputs = Compute(context, kPrompt, R"({"decode": true, "top-logits": 1, "threads": 1})", tokens);
    ASSERT_EQ(outputs.size(), kOutputs);
    ASSERT_EQ(outputs[6].size(), sizeof(float));
    ASSERT_EQ(outputs[7].size(), sizeof(int32_t));
    tokens.push_back(0);
    std::memcpy(&tokens.back(), outputs[7].data(), sizeof(int32_t));
  }
  std::string list;
  for (const int32_t token : tokens) list += (list.empty() ? "[" : ",") + std::to_string(token);
  EXPECT_EQ(Compute(context, list + "]", R"({"detokenize": true})")[0], generated);
}

TEST_F(ComponentLlama, GeneratesTheSamePieceByPiece) {
  const uint32_t context = Context();
  const std::string whole = Compute(context, kPrompt, kOptions)[0];
  Good("start", {context, kList, Inputs(kPrompt, kOptions), kResult});
  std::string all;
  int pieces = 0;
  for (std::string piece; (piece = Next(context)) != "(end)"; ++pieces) {
    all += piece;
    EXPECT_EQ(Output(context, "completion"), all);
  }
  EXPECT_EQ(all, whole);
  EXPECT_EQ(pieces, 8);
  EXPECT_THAT(Output(context, "metadata"), HasSubstr(R"("output_tokens":8)"));
  Good("finish", {context, kResult});
}

// The options of one compute are not those of the next, which has none.
TEST_F(ComponentLlama, OptionsThatAreNotGivenAreNotThere) {
  const uint32_t context = Context(R"({"temp": 0, "n-predict": 3, "threads": 1})");
  EXPECT_THAT(Compute(context, kPrompt, kOptions)[1], HasSubstr(R"("output_tokens":8)"));
  EXPECT_THAT(Compute(context, kPrompt, "")[1], HasSubstr(R"("output_tokens":3)"));
  wasinn_guest_stats stats = {};
  stats.struct_size = sizeof stats;
  wasinn_guest_statistics(guest_.get(), &stats);
  EXPECT_EQ(stats.model_bytes, 0u) << "the model is the one that all share";
}

TEST_F(ComponentLlama, TwoConversationsDoNotMix) {
  const uint32_t one = Context(), two = Context();
  const std::string first = Compute(one, kPrompt, kOptions)[0], second = Compute(two, "Permission is", kOptions)[0];
  ASSERT_NE(first, second);
  Good("start", {one, kList, Inputs(kPrompt, kOptions), kResult});
  Good("start", {two, kList, Inputs("Permission is", kOptions), kResult});
  std::string a, b;
  for (int i = 0; i < 8; ++i) {
    a += Next(one);
    b += Next(two);
  }
  EXPECT_EQ(a, first);
  EXPECT_EQ(b, second);
}

TEST_F(ComponentLlama, AFullContextGivesWhatThereIs) {
  const uint32_t context = Context(R"({"ctx-size": 16, "temp": 0, "threads": 1})");
  const std::vector<std::string> outputs = Compute(context, kPrompt, "");
  ASSERT_EQ(outputs.size(), kOutputs);
  EXPECT_THAT(outputs[0], StartsWith(" License"));
}

}  // namespace
}  // namespace wasinn::testing
