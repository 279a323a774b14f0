// Pieces, ends, options.
#include "backends/expect.h"
#include "backends/llama_models.h"
#include "llama/text.h"

namespace wasinn::test {
namespace {

constexpr const char* kStreamedText = "the hen ate the oats";

// All pieces, until there are no more; the last step's code in `end`.
std::vector<std::string> Stream(Context* context, wasinn_code* end, int most = 100000) {
  std::vector<std::string> pieces;
  for (int i = 0; i < most; ++i) {
    const Result step = context->Step();
    *end = step.code;
    if (!step) break;
    pieces.emplace_back();
    EXPECT_TRUE(context->Piece(kCompletion, &pieces.back()));
  }
  return pieces;
}

std::string Join(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

TEST(LlamaStream, HasWholeCharacters) {
  auto&& [host, model, context] =
      Opened(TinyModel(), LlamaOptions(R"({"n-predict": 200, "temp": 1.5, "top-k": 0, "min-p": 0})"));
  ASSERT_TRUE(SetPrompt(&context, kStreamedText));
  for (int seed = 1; seed < 6; ++seed) {
    const std::string whole = CompleteWith(&context, R"({"seed": )" + std::to_string(seed) + "}");
    EXPECT_EQ(llama::FindInvalidUtf8(whole), std::string::npos);
    const auto tokens = Metadata(&context)["output_tokens"];
    EXPECT_GT(tokens, 50);
    wasinn_code end = WASINN_OK;
    const auto pieces = Stream(&context, &end);
    EXPECT_EQ(end, WASINN_ERROR_END_OF_SEQUENCE);
    EXPECT_EQ(Join(pieces), whole);
    EXPECT_EQ(Written(&context), whole);
    for (const std::string& piece : pieces) EXPECT_EQ(llama::FindInvalidUtf8(piece), std::string::npos);
    EXPECT_EQ(Metadata(&context)["output_tokens"], tokens);
    EXPECT_TRUE(context.Finish());
  }
}

TEST(LlamaStream, BytesOfOneCharacterWaitForEachOther) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"temp": 0})"));
  ASSERT_TRUE(SetPrompt(&context, kStreamedText));
  // No token but those of its bytes can write it.
  ASSERT_TRUE(SetOptions(&context, R"({"grammar": "root ::= \"\u4e2d\u6587\""})"));
  wasinn_code end = WASINN_OK;
  const auto pieces = Stream(&context, &end);
  EXPECT_EQ(end, WASINN_ERROR_END_OF_SEQUENCE);
  EXPECT_THAT(pieces, ElementsAre("", "", "中", "", "", "文"));
}

TEST(LlamaStream, ContinuesUntilItIsFinished) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"n-predict": 8, "seed": 1})"));
  ASSERT_TRUE(context.Finish()) << "of nothing";
  std::string piece;
  EXPECT_EQ(context.Piece(kCompletion, &piece).code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(context.Step().code, WASINN_ERROR_INVALID_ARGUMENT) << "before there is a prompt";
  const std::string whole = Complete(&context, kStreamedText);
  wasinn_code end = WASINN_OK;
  const auto pieces = Stream(&context, &end);
  EXPECT_EQ(Join(pieces), whole);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(context.Step().code, WASINN_ERROR_END_OF_SEQUENCE);
  EXPECT_EQ(context.Piece(kCompletion, &piece).code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(Written(&context), whole);
  // Twice.
  EXPECT_TRUE(context.Finish());
  EXPECT_TRUE(context.Finish());
  EXPECT_EQ(Written(&context), whole);
  // Ended early, then from the beginning.
  EXPECT_EQ(Join(Stream(&context, &end, 3)), Join({pieces[0], pieces[1], pieces[2]}));
  EXPECT_TRUE(context.Finish());
  EXPECT_EQ(Join(Stream(&context, &end)), whole);
  // A compute, or an input, ends it, too.
  EXPECT_TRUE(context.Finish());
  EXPECT_TRUE(context.Step());
  EXPECT_EQ(Complete(&context), whole);
  EXPECT_EQ(Join(Stream(&context, &end, 3)), Join({pieces[0], pieces[1], pieces[2]}));
  ASSERT_TRUE(SetPrompt(&context, kStreamedText));
  EXPECT_EQ(Join(Stream(&context, &end)), whole);
}

TEST(LlamaStream, StopsAtAReversePrompt) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"seed": 3})"));
  ASSERT_TRUE(SetPrompt(&context, kStreamedText));
  const std::string grammar = R"("grammar": "root ::= \"ab\" \"ac\" \"abe, the rest\"")";
  wasinn_code end = WASINN_OK;
  for (const auto& [stop, expected] :
       std::vector<std::pair<std::string, std::string>>{{R"("abe")", "abac"},
                                                        {R"(["x", "he rest"])", "abacabe, t"},
                                                        {R"(["abacabe, the rest."])", "abacabe, the rest"},
                                                        {R"("ab")", ""},
                                                        {R"(["", "bac", "aca"])", "a"},
                                                        {R"([])", "abacabe, the rest"}}) {
    EXPECT_EQ(CompleteWith(&context, "{" + grammar + R"(, "reverse-prompt": )" + stop + "}"), expected) << stop;
    EXPECT_EQ(Join(Stream(&context, &end)), expected) << stop;
    EXPECT_EQ(end, WASINN_ERROR_END_OF_SEQUENCE);
    EXPECT_TRUE(context.Finish());
  }
}

TEST(LlamaStream, AFullContextEndsIt) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"seed": 3, "ctx-size": 32})"));
  ASSERT_TRUE(SetPrompt(&context, kStreamedText));
  const uint64_t tokens = Metadata(&context)["input_tokens"];
  const std::string expected =
      Characters(NativeTiny().Complete(kStreamedText, {.predict = static_cast<int32_t>(33 - tokens), .seed = 3}).bytes);
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_CONTEXT_FULL) << computed.message;
  EXPECT_EQ(Written(&context), expected) << "what was generated so far may be read";
  wasinn_code end = WASINN_OK;
  EXPECT_EQ(Join(Stream(&context, &end)), expected);
  EXPECT_EQ(end, WASINN_ERROR_CONTEXT_FULL);
  EXPECT_EQ(context.Step().code, WASINN_ERROR_CONTEXT_FULL);
  EXPECT_EQ(Written(&context), expected);
  EXPECT_TRUE(context.Finish());
  // A prompt that fills it.
  std::string full = "a";
  for (;;) {
    ASSERT_TRUE(SetPrompt(&context, full));
    if (Metadata(&context)["input_tokens"] == 32) break;
    full += "e";
  }
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_CONTEXT_FULL);
  EXPECT_EQ(Metadata(&context)["output_tokens"], 1);
  const Result too_long = ComputeOn(&context, full + "e");
  EXPECT_EQ(too_long.code, WASINN_ERROR_PROMPT_TOO_LONG) << too_long.message;
  EXPECT_THAT(too_long.message, HasSubstr("33 tokens"));
  ASSERT_TRUE(SetOptions(&context, R"({"n-predict": 0})"));
  EXPECT_EQ(Complete(&context, kStreamedText), "");
}

TEST(LlamaOptions, InvalidOptionsAreRefusedWithoutLosingText) {
  auto&& [host, model, context] = Opened(
      TinyModel(), LlamaOptions(R"({"seed": 3, "n-predict": 8, "ctx-size": 64, "batch-size": 32, "ubatch-size": 16})"));
  const std::string expected = Complete(&context, kStreamedText);
  std::vector<std::string> all = {"no JSON", "[]", "1", "{", R"({"grammar": "a", "json-schema": {}})"};
  for (const auto& [key, values] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"ctx-size", {"1e9", "-1", "1e300", "18446744073709551615", "\"64\""}},
           {"batch-size", {"-1", "0"}},
           {"ubatch-size", {"0"}},
           {"threads", {"0", "100000"}},
           {"n-predict", {"-2", "2147483648"}},
           {"temp", {"-0.1", "1e39"}},
           {"top-k", {"-1"}},
           {"top-p", {"1.1", "-1"}},
           {"min-p", {"2"}},
           {"typical-p", {"-1"}},
           {"repeat-penalty", {"0", "-1e308"}},
           {"presence-penalty", {"1e5"}},
           {"frequency-penalty", {"\"1\""}},
           {"seed", {"4294967296", "-2"}},
           {"reverse-prompt", {"1", "[1]"}},
           {"lora", {"\"unknown\"", "\"/etc/passwd\""}},
           {"chat", {"\"yes\""}},
           {"n-gpu-layers", {"-2"}}}) {
    for (const std::string& value : values) all.push_back("{\"" + key + "\": " + value + "}");
  }
  for (const char* key : {"grammar", "embedding", "stream-stdout"}) all.push_back(json{{key, 1}}.dump());
  for (const std::string& bad : all) {
    ASSERT_TRUE(SetOptions(&context, bad));
    for (int i = 0; i < 2; ++i) {
      const Result computed = context.Compute();
      EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT) << bad << ": " << computed.message;
    }
    EXPECT_EQ(context.Step().code, WASINN_ERROR_INVALID_ARGUMENT) << bad;
    EXPECT_EQ(CompleteWith(&context, "{}"), expected) << bad;
  }
  const std::string many = R"({"reverse-prompt": [)" + std::string(39, ' ');
  std::string words = R"("a")";
  for (int i = 0; i < 40; ++i) words += R"(, "a")";
  EXPECT_EQ(ComputeWith(&context, many + words + "]}").code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CompleteWith(&context, R"({"threads": 1024})"), expected) << "more than there are is fewer";
  EXPECT_EQ(ComputeWith(&context, std::string("{}\0{", 4)).code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(LlamaOptions, UnboundOptionsNoLongerApply) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"temp": 0, "n-predict": 3})"));
  ASSERT_TRUE(Ask(&context, "the hen", R"({"n-predict": 5})"));
  EXPECT_EQ(Metadata(&context)["output_tokens"], 5);
  host.table().unbind_input(context.get(), 1);
  ASSERT_TRUE(context.Compute());
  EXPECT_EQ(Metadata(&context)["output_tokens"], 3);
  host.table().unbind_input(context.get(), 0);
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_INVALID_ARGUMENT);
}

TEST(LlamaOptions, UnknownKeysAreNamedInTheLog) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"seed": 3, "n-predict": 2})"));
  EXPECT_TRUE(Ask(&context, kStreamedText, R"({"rope-scale": 2, "stream-stdout": true, "a\n\u001b[31m": 1})"));
  EXPECT_THAT(host.log(), HasSubstr("warning: options: unknown keys: a??[31m, rope-scale"));
  EXPECT_THAT(host.log(), HasSubstr("stream-stdout"));
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(ComputeWith(&context, R"({"key)" + std::to_string(i) + R"(": 1})"));
  }
  EXPECT_THAT(host.log(), Not(HasSubstr("key99"))) << "a guest does not fill the host's log";
}

TEST(LlamaOptions, LogsIfEnabled) {
  const Host host;
  {
    const Model quiet(host, TinyModel(), LlamaOptions(R"({"n-predict": 2})"));
    Context context(quiet);
    EXPECT_TRUE(ComputeOn(&context, kStreamedText));
  }
  EXPECT_EQ(host.log(), "");
  const Host other;
  const Model loud(other, TinyModel(), LlamaOptions(R"({"n-predict": 2, "enable-log": true})"));
  Context context(loud);
  EXPECT_TRUE(ComputeOn(&context, kStreamedText));
  EXPECT_THAT(other.log(), HasSubstr("info: "));
  EXPECT_EQ(host.log(), "") << "each host hears of its own";
}

TEST(LlamaPrompt, InvalidPromptsAreRefused) {
  auto&& [host, model, context] = Opened(TinyModel(), LlamaOptions(R"({"seed": 3, "n-predict": 2})"));
  EXPECT_EQ(ComputeOn(&context, "").code, WASINN_ERROR_INVALID_ARGUMENT);
  for (const char* bad : {"\xff", "the \xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf", "a\x80"}) {
    const Result computed = ComputeOn(&context, bad);
    EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT) << computed.message;
    EXPECT_THAT(computed.message, HasSubstr("UTF-8"));
  }
  for (const std::string& large : {std::string(1 << 20, 'a'), std::string(30 << 20, '\0'), std::string(4000, ' ')}) {
    ASSERT_TRUE(SetPrompt(&context, large));
    const double before = ThreadSeconds();
    const Result computed = context.Compute();
    EXPECT_LT(ThreadSeconds() - before, 1) << "a text that cannot fit is made no tokens of";
    EXPECT_EQ(computed.code, WASINN_ERROR_PROMPT_TOO_LONG) << computed.message;
  }
  EXPECT_TRUE(ComputeOn(&context, std::string("a\0b", 3))) << "a byte 0 is a character as any other";
  EXPECT_TRUE(ComputeOn(&context, "\u4e2d\U0001F600 é"));
}

TEST(LlamaText, StopWordsAreHeldBackInWholeCharacters) {
  llama::PieceWriter writer({"\u00e9t\u00e9", "zz"});
  EXPECT_EQ(writer.Add("a\xc3"), "a");
  EXPECT_EQ(writer.Add("\xa9"), "");
  EXPECT_EQ(writer.Add("t"), "");
  EXPECT_EQ(writer.Add("z"), "ét");
  EXPECT_EQ(writer.Add("\xff"), "z\uFFFD");
  EXPECT_EQ(writer.Add("ét\xc3"), "");
  EXPECT_FALSE(writer.stopped());
  EXPECT_EQ(writer.Add("\xa9"), "");
  EXPECT_TRUE(writer.stopped());
  EXPECT_EQ(writer.Add("more"), "");
  EXPECT_EQ(writer.End(), "");
  llama::PieceWriter open({"ab"});
  EXPECT_EQ(open.Add("a"), "");
  EXPECT_EQ(open.Add("\xe2\x82"), "");
  EXPECT_EQ(open.End(), "a\uFFFD");
}

}  // namespace
}  // namespace wasinn::test
