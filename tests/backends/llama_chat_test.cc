// Chats: messages in, a message out, against llama.cpp's own loop over the prompt that its template makes.
#include "backends/expect.h"
#include "backends/llama_models.h"
#include "backends/llama_templates.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

namespace fs = std::filesystem;

// Room for tools, of which each byte is a token.
constexpr TinyLlama kRoomForTools = {.context = 4096};

std::string WithTemplate(const std::string& text) {
  GgufWriter writer = TinyLlamaWriter(kRoomForTools);
  writer.SetText("tokenizer.chat_template", text);
  return writer.Write();
}

// One whose words begin a call of a tool.
std::string CallingModel() {
  GgufWriter writer = TinyLlamaWriter(kRoomForTools);
  std::vector<std::string> tokens = TinyVocabulary();
  *std::ranges::find(tokens, "user") = "<tool_call>\n";
  writer.SetTexts("tokenizer.ggml.tokens", tokens);
  writer.SetText("tokenizer.chat_template", kToolTemplate);
  return writer.Write();
}

constexpr const char* kHenQuestion = R"([{"role": "user", "content": "the \"hen\""}])";
constexpr const char* kPromptOfIt = "<|im_start|>user\nthe \"hen\"<|im_end|>\n<|im_start|>assistant\n";

json MessageOf(Context* context) {
  Tensor message;
  const Result got = context->Get(kMessage, &message);
  if (!got) return {{"error", got.message}};
  return message.bytes.empty() ? json() : json::parse(message.bytes);
}

std::string Options(json options) {
  options["chat"] = true;
  return options.dump();
}

// The answer to kHenQuestion with the default settings.
void ExpectAnswer(Context* context) {
  ASSERT_TRUE(SetOptions(context, R"({"chat": true})"));
  ASSERT_TRUE(SetPrompt(context, kHenQuestion));
  const std::string native = Characters(NativeTiny().Complete(kPromptOfIt, {.predict = 16, .seed = 2}).bytes);
  EXPECT_EQ(Complete(context), native);
  EXPECT_EQ(MessageOf(context), (json{{"role", "assistant"}, {"content", native}}));
}

TEST(LlamaChat, JoinsMessagesByTheModelsTemplate) {
  auto&& [host, model, context] = Opened(WithTemplate(kToolTemplate), LlamaOptions(R"({"n-predict": 16, "seed": 2})"));
  ExpectAnswer(&context);
  EXPECT_EQ(Metadata(&context)["finish_reason"], "length");
  const std::string said = Written(&context);
  EXPECT_EQ(Complete(&context, R"([{"role": "user", "content": [{"type": "text", "text": "the \"hen\""}]}])"), said);
  EXPECT_EQ(CompleteWith(&context, R"({"chat": true, "chat-template": "zephyr"})"),
            Characters(NativeTiny()
                           .Complete("<|user|>\nthe \"hen\"<|endoftext|>\n<|assistant|>\n", {.predict = 16, .seed = 2})
                           .bytes));
  EXPECT_EQ(MessageOf(&context)["content"], Written(&context));
  EXPECT_EQ(ComputeWith(&context, R"({"chat": true, "chat-template": "/etc/passwd"})").code,
            WASINN_ERROR_UNSUPPORTED_OPERATION);
}

// Without its chat code, as next to a llama.cpp of another source: templates are recognised by their text.
TEST(LlamaChat, WorksWithoutTheChatLibrary) {
  // Another file, so that the dynamic linker does not take the one that is open.
  const std::string library = TemporaryFile("libllama.so", ReadFile(testing::FrameworkFile("llama")));
  for (const auto& entry : fs::directory_iterator(fs::path(testing::FrameworkFile("llama")).parent_path())) {
    const std::string name = entry.path().filename();
    if (name.starts_with("libggml")) fs::create_symlink(entry.path(), fs::path(library).parent_path() / name);
  }
  auto&& [host, model, context] = Opened(WithTemplate(kToolTemplate), LlamaOptions(R"({"n-predict": 16, "seed": 2})"),
                                         json{{"library", library}}.dump());
  ExpectAnswer(&context);
  const Result computed = ComputeWith(&context, Options({{"tools", json::parse(kWeatherTool)}}));
  EXPECT_EQ(computed.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(computed.message, HasSubstr("libwasinn_llama_common.so"));
}

// A guest pays for reading its answer, and an answer that could not be read for lack of memory is no plain text.
TEST(LlamaChat, ChargesTheGuestForReadingAnAnswer) {
  const Host host;
  const Model model(host, WithTemplate(kToolTemplate), LlamaOptions(R"({"n-predict": 16, "seed": 2})"));
  Account guest;
  Context context(model, 0, "{}", &guest);
  ASSERT_TRUE(Ask(&context, kHenQuestion, R"({"chat": true})"));
  const uint64_t used = guest.used;
  guest.limit = used + 64;
  Tensor message;
  EXPECT_EQ(context.Get(kMessage, &message).code, WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(guest.used, used);
  guest.limit = UINT64_MAX;
  EXPECT_EQ(MessageOf(&context)["content"], Written(&context));
}

TEST(LlamaChat, RefusesInvalidMessages) {
  auto&& [host, model, context] =
      Opened(WithTemplate(kToolTemplate), LlamaOptions(R"({"n-predict": 1, "chat": true})"));
  std::string names = "{";
  for (int i = 0; i < 2000; ++i) names += '"' + std::to_string(i) + "\": 1, ";
  for (const std::string& bad :
       {std::string("the hen"), std::string("{}"), std::string("[]"), std::string("[1]"), std::string(" [ ] "),
        std::string(R"([{"role": "user"}])"), std::string(R"([{"role": "user", "content": 1}])"),
        std::string(R"([{"role": "user", "content": "a"}], "tools": [])"), std::string(100000, '['),
        "[" + names + R"("role": "user", "content": "a"}])"}) {
    const Result computed = ComputeOn(&context, bad);
    EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT) << bad.substr(0, 100) << ": " << computed.message;
    EXPECT_THAT(computed.message, HasSubstr("chat"));
  }
  EXPECT_EQ(ComputeOn(&context, R"([{"role": "user", "content": ")" + std::string(5 << 20, 'a') + R"("}])").code,
            WASINN_ERROR_PROMPT_TOO_LONG);
  EXPECT_EQ(ComputeOn(&context, R"([{"role": "user", "content": ")" + std::string(1 << 20, 'a') + R"("}])").code,
            WASINN_ERROR_PROMPT_TOO_LONG);
  EXPECT_TRUE(ComputeOn(&context, kHenQuestion)) << "and goes on";
}

TEST(LlamaChat, NeedsATemplate) {
  auto&& [host, model, context] = Opened(TinyLlamaWriter().Write(), LlamaOptions(R"({"chat": true})"));
  EXPECT_EQ(ComputeOn(&context, kHenQuestion).code, WASINN_ERROR_UNSUPPORTED_OPERATION);
}

TEST(LlamaChat, AcceptsTemplatesOnlyFromTheHost) {
  const Host host;
  const std::string text = "{% for m in messages %}<{{m.role}}>{{m.content}}{% endfor %}";
  const LoadedModel model(
      host, TinyLlamaWriter().Write(),
      LlamaOptions(json{{"n-predict", 16}, {"seed", 2}, {"chat", true}, {"chat-template", text}}.dump()));
  Context context(model);
  EXPECT_EQ(Complete(&context, kHenQuestion),
            Characters(NativeTiny().Complete("<user>the \"hen\"", {.predict = 16, .seed = 2}).bytes));
  EXPECT_EQ(ComputeWith(&context, Options({{"chat-template", "{{ messages }}"}})).code, WASINN_ERROR_SECURITY);
}

TEST(LlamaChat, PlainTextHasNoMessage) {
  auto&& [host, model, context] = Opened(WithTemplate(kToolTemplate), LlamaOptions(R"({"n-predict": 4})"));
  ASSERT_TRUE(ComputeOn(&context, "the hen"));
  EXPECT_EQ(MessageOf(&context), json());
}

json WeatherOptions(const json& more) {
  json options = {{"tools", json::parse(kWeatherTool)},
                  {"temp", 2},
                  {"n-predict", 2000},
                  {"chat", true},
                  {"parallel-tool-calls", false}};
  options.update(more);
  return options;
}

void ExpectWeatherCall(const json& message) {
  ASSERT_TRUE(message.contains("tool_calls")) << message;
  const json& call = message["tool_calls"][0];
  EXPECT_EQ(call["type"], "function");
  EXPECT_THAT(std::string(call["id"]), Not(""));
  EXPECT_EQ(call["function"]["name"], "weather");
  EXPECT_THAT(json::parse(std::string(call["function"]["arguments"])),
              AnyOf(json{{"city", "Rome"}}, json{{"city", "Oslo"}}));
}

TEST(LlamaTools, AreCalledIfRequired) {
  auto&& [host, model, context] = Opened(CallingModel(), LlamaOptions());
  ASSERT_TRUE(SetPrompt(&context, kHenQuestion));
  for (const json& choice : {json("required"), json{{"type", "function"}, {"function", {{"name", "weather"}}}}}) {
    ASSERT_TRUE(SetOptions(&context, WeatherOptions({{"tool-choice", choice}, {"seed", 1}}).dump()));
    MustCompute(&context);
    const json message = MessageOf(&context);
    ExpectWeatherCall(message);
    EXPECT_EQ(Metadata(&context)["finish_reason"], "tool_calls");
    EXPECT_EQ(MessageOf(&context), message) << "the same again";
  }
}

// A step at a time: the model comes to the word that begins a call, and from there on the grammar leads it.
TEST(LlamaTools, AreCalledByTheModelItself) {
  auto&& [host, model, context] = Opened(CallingModel(), LlamaOptions());
  ASSERT_TRUE(SetPrompt(&context, kHenQuestion));
  json message;
  for (int seed = 1; seed < 50 && !message.contains("tool_calls"); ++seed) {
    ASSERT_TRUE(SetOptions(&context, WeatherOptions({{"seed", seed}}).dump()));
    std::string content, id;
    for (;;) {
      const Result stepped = context.Step();
      if (stepped.code == WASINN_ERROR_END_OF_SEQUENCE || stepped.code == WASINN_ERROR_CONTEXT_FULL) break;
      ASSERT_TRUE(stepped) << stepped.message;
      message = MessageOf(&context);
      const std::string now = message.value("content", "");
      EXPECT_TRUE(now.starts_with(content)) << now;
      content = now;
      if (!message.contains("tool_calls")) continue;
      const std::string given = message["tool_calls"][0]["id"];
      EXPECT_TRUE(id.empty() || id == given) << "one call has one name";
      id = given;
    }
    message = MessageOf(&context);
  }
  ExpectWeatherCall(message);
  EXPECT_EQ(Metadata(&context)["finish_reason"], "tool_calls");
}

// A token may bring the word that begins a call and what no call goes on with.
TEST(LlamaTools, AnIncompleteCallIsText) {
  for (const char* begun :
       {"<tool_call>\n{\"arguments\":", "<tool_call>\n[", "<tool_call>no", "<tool_call>\n<tool_call>\n"}) {
    GgufWriter writer = TinyLlamaWriter(kRoomForTools);
    std::vector<std::string> tokens = TinyVocabulary();
    const auto found = std::ranges::find(tokens, "user");
    const auto token = found - tokens.begin();
    *found = begun;
    writer.SetTexts("tokenizer.ggml.tokens", tokens);
    writer.SetText("tokenizer.chat_template", kToolTemplate);
    auto&& [host, model, context] = Opened(writer.Write(), LlamaOptions());
    ASSERT_TRUE(SetPrompt(&context, kHenQuestion));
    const json options = WeatherOptions({{"temp", 0}, {"n-predict", 3}, {"logit-bias", json::array({{token, 1000}})}});
    ASSERT_TRUE(SetOptions(&context, options.dump()));
    const Result computed = context.Compute();
    ASSERT_TRUE(computed) << begun << computed.message;
    const json message = MessageOf(&context);
    const std::string all = Written(&context);
    EXPECT_THAT(all, StartsWith(begun));
    EXPECT_EQ(message["content"], all) << message;
    EXPECT_FALSE(message.contains("tool_calls")) << message;
    // A step at a time.
    std::string content;
    for (Result stepped = context.Step(); stepped.code != WASINN_ERROR_END_OF_SEQUENCE; stepped = context.Step()) {
      ASSERT_TRUE(stepped) << stepped.message;
      const std::string now = MessageOf(&context).value("content", "");
      EXPECT_TRUE(now.starts_with(content)) << now;
      content = now;
    }
    EXPECT_EQ(MessageOf(&context)["content"], all);
  }
}

TEST(LlamaTools, AreNotCalledIfForbidden) {
  auto&& [host, model, context] = Opened(CallingModel(), LlamaOptions());
  ASSERT_TRUE(
      Ask(&context, kHenQuestion, WeatherOptions({{"tool-choice", "none"}, {"seed", 1}, {"n-predict", 8}}).dump()));
  EXPECT_FALSE(MessageOf(&context).contains("tool_calls"));
}

TEST(LlamaTools, AreChecked) {
  auto&& [host, model, context] = Opened(WithTemplate(kToolTemplate), LlamaOptions());
  ASSERT_TRUE(SetPrompt(&context, kHenQuestion));
  json large = {{"type", "object"}};
  for (int i = 0; i < 900; ++i) large["properties"]["p" + std::to_string(i)] = {{"type", "string"}};
  const auto tool = [](const json& name, const json& parameters) {
    return json::array({{{"type", "function"}, {"function", {{"name", name}, {"parameters", parameters}}}}});
  };
  json many = json::array();
  for (int i = 0; i < 200; ++i) many.push_back(tool(std::to_string(i), {})[0]);
  for (const auto& [options, code] :
       {std::pair(json{{"tools", 1}}, WASINN_ERROR_INVALID_ARGUMENT),
        std::pair(json{{"tools", json::array({1})}}, WASINN_ERROR_INVALID_ARGUMENT),
        std::pair(json{{"tools", many}}, WASINN_ERROR_INVALID_ARGUMENT),
        std::pair(json{{"tools", tool("a", large)}}, WASINN_ERROR_TOO_LARGE),
        std::pair(json{{"tools", tool(1, {})}}, WASINN_ERROR_INVALID_ARGUMENT),
        std::pair(json{{"tools", tool("a", {})}, {"tool-choice", "perhaps"}}, WASINN_ERROR_INVALID_ARGUMENT),
        std::pair(json{{"tools", tool("a", {})}, {"tool-choice", 5}}, WASINN_ERROR_INVALID_ARGUMENT),
        std::pair(json{{"tools", tool("a", {})}, {"chat-template", "zephyr"}}, WASINN_ERROR_UNSUPPORTED_OPERATION),
        std::pair(json{{"tools", tool("a", {})}, {"grammar", "root ::= \"a\""}}, WASINN_ERROR_INVALID_ARGUMENT),
        std::pair(json{{"reasoning-format", "loud"}}, WASINN_ERROR_INVALID_ARGUMENT),
        std::pair(json{{"chat-template-kwargs", "[1]"}}, WASINN_ERROR_INVALID_ARGUMENT)}) {
    const Result computed = ComputeWith(&context, Options(options));
    EXPECT_EQ(computed.code, code) << options.dump().substr(0, 200) << ": " << computed.message;
  }
  const Host strict(R"({"guest_grammars": false})");
  const Model guarded(strict, WithTemplate(kToolTemplate), LlamaOptions());
  Context there(guarded);
  EXPECT_EQ(Ask(&there, kHenQuestion, WeatherOptions(json::object()).dump()).code, WASINN_ERROR_SECURITY);
}

TEST(LlamaChat, AnswersBySchema) {
  auto&& [host, model, context] = Opened(WithTemplate(kToolTemplate), LlamaOptions());
  ASSERT_TRUE(SetPrompt(&context, kHenQuestion));
  const json schema = {{"type", "object"},
                       {"properties", {{"b", {{"const", "x"}}}, {"a", {{"enum", {1, 2}}}}}},
                       {"required", {"b", "a"}}};
  ASSERT_TRUE(SetOptions(&context, Options({{"json-schema", schema}, {"temp", 2}, {"seed", 1}, {"n-predict", 300}})));
  MustCompute(&context);
  const json answer = json::parse(std::string(MessageOf(&context)["content"]));
  EXPECT_EQ(answer["b"], "x");
  EXPECT_THAT(int(answer["a"]), AnyOf(1, 2));
  EXPECT_EQ(CompleteWith(&context, Options({{"grammar", "root ::= \"the hen\""}, {"temp", 2}, {"seed", 1}})),
            "the hen");
}

TEST(LlamaChat, ATemplateWithoutAnEndIsStopped) {
  const Host host;
  for (const char* text : {"{% for i in range(1000000000) %}a{% endfor %}",
                           "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{% for %}"}) {
    const LoadedModel model(host, WithTemplate(text), LlamaOptions(R"({"chat": true})"));
    Context context(model);
    EXPECT_THAT(ComputeOn(&context, kHenQuestion).code, AnyOf(WASINN_ERROR_TOO_LARGE, WASINN_ERROR_INVALID_ARGUMENT))
        << text;
  }
}

}  // namespace
}  // namespace wasinn::test
