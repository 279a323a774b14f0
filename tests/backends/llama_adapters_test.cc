// Adapters of the host's (LoRA), against llama.cpp's own loop.
#include "backends/expect.h"
#include "backends/llama_guest.h"
#include "backends/llama_native.h"

namespace wasinn::test {
namespace {

constexpr const char* kAdaptedText = "the hen ate";

// An adapter for one matrix of the tiny model.
std::string WriteLora(uint32_t seed) {
  GgufWriter writer;
  writer.SetText("general.architecture", "llama");
  writer.SetText("general.type", "adapter");
  writer.SetText("adapter.type", "lora");
  writer.SetF32("adapter.lora.alpha", 4);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const auto matrix = [&] {
    std::string bytes;
    for (int i = 0; i < 64 * 4; ++i) bytes += BytesOf(normal(random));
    return bytes;
  };
  writer.tensors.push_back({"blk.0.attn_q.weight.lora_a", {64, 4}, kGgmlF32, matrix()});
  writer.tensors.push_back({"blk.0.attn_q.weight.lora_b", {4, 64}, kGgmlF32, matrix()});
  return writer.Write();
}

class LlamaAdapters : public ::testing::Test {
 protected:
  std::string Native(const NativeLlama::Loras& loras) const {
    return Characters(native_.Complete(kAdaptedText, {.predict = 24, .temperature = 0}, loras).bytes);
  }
  // The completion with these options, and of how many tokens of the prompt it was.
  std::string With(Context* context, const std::string& options, uint64_t* evaluated) {
    EXPECT_TRUE(SetOptions(context, options));
    std::string text = Complete(context);
    *evaluated = Metadata(context)["evaluated_tokens"];
    return text;
  }
  std::string Config(const std::string& more = "") const {
    return R"({"n-predict": 24, "temp": 0, "loras": {"style": ")" + style_ + R"(", "tone": ")" + tone_ + "\"}" + more +
           "}";
  }

  const std::string style_ = TemporaryFile("style.gguf", WriteLora(1)),
                    tone_ = TemporaryFile("tone.gguf", WriteLora(2));
  const std::string path_ = TemporaryFile("base.gguf", TinyLlamaWriter().Write());
  const NativeLlama native_{path_};
};

TEST_F(LlamaAdapters, AreUsedByTheHostsNames) {
  const Host host;
  const std::string plain = Native({}), styled = Native({{style_, 1}}), toned = Native({{tone_, 1}}),
                    both = Native({{style_, 0.5F}, {tone_, -2}});
  EXPECT_NE(plain, styled);
  EXPECT_NE(styled, toned);
  EXPECT_NE(both, styled);
  EXPECT_NE(both, plain);
  for (const char* parallel : {"0", "2"}) {
    const LoadedModel model(host, TinyLlamaWriter().Write(),
                            LlamaOptions(Config(std::string(R"(, "parallel": )") + parallel)));
    Context context(model);
    ASSERT_TRUE(SetPrompt(&context, kAdaptedText));
    const uint64_t all = Metadata(&context)["input_tokens"];
    uint64_t evaluated = 0;
    // Nothing of what was evaluated with others is used, and all of what was evaluated with these.
    EXPECT_EQ(With(&context, "{}", &evaluated), plain);
    EXPECT_EQ(With(&context, R"({"lora": "style"})", &evaluated), styled);
    EXPECT_EQ(evaluated, all);
    EXPECT_EQ(With(&context, R"({"lora": ["style"], "lora-scale": 1})", &evaluated), styled);
    EXPECT_EQ(evaluated, 1u);
    EXPECT_EQ(With(&context, R"({"lora": "tone"})", &evaluated), toned);
    EXPECT_EQ(evaluated, all);
    EXPECT_EQ(With(&context, R"({"lora": ["tone", {"name": "style", "scale": 0.5}], "lora-scale": -2})", &evaluated),
              both);
    EXPECT_EQ(evaluated, all);
    EXPECT_EQ(
        With(&context, R"({"lora": [{"name": "style", "scale": 0.5}, {"name": "tone", "scale": -2}]})", &evaluated),
        both);
    EXPECT_EQ(evaluated, 1u);
    EXPECT_EQ(With(&context, R"({"lora": ["style", "tone"], "lora-scale": 0})", &evaluated), plain);
    EXPECT_EQ(evaluated, all);
    EXPECT_EQ(With(&context, R"({"lora": ""})", &evaluated), plain);
    EXPECT_EQ(evaluated, 1u) << "a scale of 0 is no adapter";
    EXPECT_EQ(With(&context, "{}", &evaluated), plain);
  }
}

TEST_F(LlamaAdapters, ChangeInTheContextAtHand) {
  const Host host;
  const LoadedModel model(host, TinyLlamaWriter().Write(), LlamaOptions(Config(R"(, "enable-log": true)")));
  const auto made = [&host] {
    size_t n = 0;
    const std::string log = host.log();
    for (size_t at = log.find("constructing llama_context"); at != std::string::npos; ++n) {
      at = log.find("constructing llama_context", at + 1);
    }
    return n;
  };
  Context context(model);
  ASSERT_TRUE(SetPrompt(&context, kAdaptedText));
  for (const char* options : {"{}", R"({"lora": "style"})", R"({"lora": ["style", "tone"]})", "{}"}) {
    EXPECT_TRUE(ComputeWith(&context, options));
  }
  EXPECT_EQ(made(), 1u);
}

TEST_F(LlamaAdapters, UnknownOnesAreRefused) {
  const Host host;
  const Model broken(host, TinyLlamaWriter().Write(), LlamaOptions(R"({"loras": {"style": ")" + path_ + "\"}}"));
  EXPECT_EQ(broken.loaded().code, WASINN_ERROR_INVALID_ARGUMENT) << broken.loaded().message;
  const Model model(host, TinyLlamaWriter().Write(), LlamaOptions(Config()));
  Context context(model);
  ASSERT_TRUE(SetPrompt(&context, kAdaptedText));
  for (const char* bad :
       {R"({"lora": "other"})", R"({"lora": ["style", "/etc/passwd"]})", R"({"lora": ["style", "style"]})",
        R"({"lora": [{"name": "style", "scale": "nan"}]})", R"({"lora": [{"name": "style", "scale": 101}]})",
        R"({"lora": [{"name": "style", "scale": "1x"}]})", R"({"lora": [{"name": "style", "path": "/etc"}]})",
        R"({"lora": [{"scale": 1}]})", R"({"lora": 1})", R"({"lora": {"style": 1}})", R"({"lora": [1]})",
        R"({"lora": "style", "lora-scale": 1e9})"}) {
    const Result computed = ComputeWith(&context, bad);
    EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
    EXPECT_THAT(computed.message, HasSubstr("lora"));
  }
  EXPECT_EQ(CompleteWith(&context, "{}"), Native({}));
}

}  // namespace
}  // namespace wasinn::test
