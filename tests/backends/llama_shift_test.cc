// Contexts that are full and go on without a part of the text, against llama.cpp's own functions.
#include "backends/expect.h"
#include "backends/llama_guest.h"
#include "backends/llama_native.h"

namespace wasinn::test {
namespace {

constexpr const char* kShiftedText = "the hen ate the oats, and then";
constexpr size_t kRoom = 64;

// A model that does not end a text by itself, for the token that does is never the most probable one.
std::string WithoutEnd() {
  constexpr size_t kWidth = 128, kEnd = 2;
  GgufWriter writer = TinyLlamaWriter({.embedding = kWidth, .heads = 4, .kv_heads = 2, .feed_forward = 128});
  std::string& output = writer.tensors.back().bytes;
  std::fill_n(output.begin() + kEnd * kWidth * sizeof(float), kWidth * sizeof(float), '\0');
  return writer.Write();
}

const std::string& EndlessModel() {
  static const std::string bytes = WithoutEnd();
  return bytes;
}

const NativeLlama& NativeEndless() {
  static const NativeLlama native(TemporaryFile("shift.gguf", EndlessModel()));
  return native;
}

std::string Config(const std::string& more) {
  return R"({"temp": 0, "ctx-size": 64, "n-predict": 150, "context-shift": true)" + more + "}";
}

TEST(LlamaShift, ContinuesLikeLlamaCpp) {
  const Host host;
  for (const char* parallel : {"", R"(, "parallel": 2)"}) {
    for (const int keep : {0, 5, -1}) {
      const LoadedModel model(host, EndlessModel(), LlamaOptions(Config(parallel)));
      Context context(model, 0, R"({"keep": )" + std::to_string(keep) + "}");
      ASSERT_TRUE(SetPrompt(&context, kShiftedText));
      const size_t prompt = Metadata(&context)["input_tokens"];
      // The token that begins a text comes on top.
      const size_t kept = keep < 0 ? prompt : static_cast<size_t>(keep) + 1;
      const NativeCompletion expected =
          NativeEndless().Complete(kShiftedText, {.predict = 150, .temperature = 0, .room = kRoom, .keep = kept});
      ASSERT_EQ(expected.tokens.size(), 150u);
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(Complete(&context), Characters(expected.bytes)) << parallel << keep;
        const auto metadata = Metadata(&context);
        EXPECT_EQ(metadata["output_tokens"], 150);
        EXPECT_GT(metadata["context_shifts"], 2);
        EXPECT_GT(metadata["discarded_tokens"], 150 - kRoom);
        // Only the kept part of the held text is the same as after a new evaluation.
        EXPECT_EQ(metadata["evaluated_tokens"], i == 0 ? prompt : std::max<size_t>(prompt - kept, 1));
      }
    }
  }
}

// llama.cpp would read what is not there.
TEST(LlamaShift, DoesNotMovePackedKeys) {
  const Host host;
  for (const char* parallel : {"", R"(, "parallel": 2)"}) {
    const Model model(host, EndlessModel(),
                      LlamaOptions(Config(std::string(R"(, "cache-type-k": "q8_0")") + parallel)));
    Context context(model);
    const Result refused = ComputeOn(&context, kShiftedText);
    EXPECT_EQ(refused.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
    EXPECT_THAT(refused.message, HasSubstr("context-shift"));
    EXPECT_EQ(ComputeWith(&context, R"({"context-shift": false})").code, WASINN_ERROR_CONTEXT_FULL);
  }
  const Model model(host, EndlessModel(), LlamaOptions(Config(R"(, "cache-type-v": "q8_0")")));
  Context context(model);
  ASSERT_TRUE(SetPrompt(&context, kShiftedText));
  const NativeSettings settings = {.predict = 150, .temperature = 0, .room = kRoom, .keep = 1, .type_v = 8};
  EXPECT_EQ(Complete(&context), Characters(NativeEndless().Complete(kShiftedText, settings).bytes))
      << "values do not move";
}

// Next to other texts that do the same, or do not.
TEST(LlamaShift, DoesNotAffectOthers) {
  const Host host;
  const Model model(host, EndlessModel(), LlamaOptions(Config(R"(, "parallel": 3)")));
  const std::string shifted = Characters(
      NativeEndless().Complete(kShiftedText, {.predict = 150, .temperature = 0, .room = kRoom, .keep = 1}).bytes);
  const std::string plain = Characters(NativeEndless().Complete(kShiftedText, {.predict = 40, .temperature = 0}).bytes);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      Context context(model, 0, i == 2 ? R"({"n-predict": 40, "context-shift": false})" : "{}");
      EXPECT_TRUE(SetPrompt(&context, kShiftedText));
      for (int n = 0; n < 4; ++n) EXPECT_EQ(Complete(&context), i == 2 ? plain : shifted);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(LlamaShift, HappensOnlyIfTheGuestAsks) {
  auto&& [host, model, context] = Opened(EndlessModel(), LlamaOptions(R"({"temp": 0, "ctx-size": 64})"));
  EXPECT_EQ(ComputeOn(&context, kShiftedText).code, WASINN_ERROR_CONTEXT_FULL) << "not without the key";
  EXPECT_EQ(Metadata(&context)["context_shifts"], 0);
  for (const char* bad :
       {R"({"context-shift": 1})", R"({"keep": -2})", R"({"keep": 16777217})", R"({"keep": "all"})"}) {
    EXPECT_EQ(ComputeWith(&context, bad).code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
  }
  // A prompt that fills it, of which all is to be kept: some room there must be.
  std::string full = "a";
  ASSERT_TRUE(SetOptions(&context, R"({"context-shift": true, "keep": -1, "n-predict": 100})"));
  ASSERT_TRUE(SetPrompt(&context, full));
  while (Metadata(&context)["input_tokens"] < kRoom) ASSERT_TRUE(ComputeOn(&context, full += "e"));
  EXPECT_EQ(Metadata(&context)["output_tokens"], 100);
  // Without an end: the deadline is its end.
  ASSERT_TRUE(SetPrompt(&context, kShiftedText));
  ASSERT_TRUE(SetOptions(&context, kWithoutEnd));
  ExpectCancellable(&context);
}

// A model that always says the same, which is long.
std::string Talkative() {
  GgufWriter writer = TinyLlamaWriter();
  std::vector<std::string> tokens = TinyVocabulary();
  std::vector<int32_t> types(tokens.size(), 1);
  tokens[0] = std::string(2000, 'q');
  writer.SetTexts("tokenizer.ggml.tokens", tokens);
  writer.SetArray("tokenizer.ggml.token_type", kGgufI32, types);
  for (GgufWriter::Tensor& tensor : writer.tensors) {
    if (tensor.name == "output_norm.weight") std::ranges::fill(tensor.bytes, '\0');
  }
  return writer.Write();
}

// The text has no end, and is the guest's to pay for.
TEST(LlamaShift, ChargesALongText) {
  const Host host;
  const LoadedModel model(host, Talkative(), LlamaOptions(R"({"temp": 0, "ctx-size": 64, "context-shift": true})"));
  Account guest;
  Context context(model, 0, "{}", &guest);
  ASSERT_TRUE(SetPrompt(&context, "the"));
  ASSERT_TRUE(context.Step());
  const uint64_t before = guest.used;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(context.Step());
  EXPECT_GE(guest.used, before + 200'000);
  guest.limit = guest.used + 300'000;
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
  ASSERT_TRUE(ComputeWith(&context, R"({"n-predict": 1})"));
  EXPECT_LE(guest.used, before);
}

TEST(LlamaShift, WorksInTinyContexts) {
  const Host host;
  const Model model(host, EndlessModel(), LlamaOptions(R"({"temp": 0, "context-shift": true, "n-predict": 20})"));
  for (int tokens = 1; tokens < 9; ++tokens) {
    Context context(model);
    const Result computed = Ask(&context, "a", R"({"keep": -1, "ctx-size": )" + std::to_string(tokens) + "}");
    EXPECT_THAT(computed.code, AnyOf(WASINN_OK, WASINN_ERROR_CONTEXT_FULL, WASINN_ERROR_PROMPT_TOO_LONG)) << tokens;
  }
}

}  // namespace
}  // namespace wasinn::test
