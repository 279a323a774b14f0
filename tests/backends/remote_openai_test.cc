// Requests to servers of OpenAI's API, and what their answers are read as.
#include <nlohmann/json.hpp>

#include "backends/thrown.h"
#include "common/config.h"
#include "remote/exchange.h"
#include "remote/openai.h"
#include "remote/protocol.h"

namespace wasinn::remote {
namespace {

using nlohmann::json;
using test::Refused;

LanguageSettings Settings(const char* guest, const char* host = "{}") {
  LanguageSettings settings;
  settings.ApplyHost(backend::Config(host, "host"));
  settings.Apply(backend::Config(guest, "guest"));
  return settings;
}

struct Sent {
  std::string path;
  json body;
};

Sent Send(const char* guest, const std::string& prompt = "Hello", const char* host = "{}") {
  const Inference inference = AskForText("", "org/name:tag", Settings(guest, host), prompt);
  const Request request = inference.write();
  const WholeMessage whole(request.body);
  EXPECT_EQ(whole.text().size(), inference.bytes);
  const json body = json::parse(whole.text(), nullptr, false);
  EXPECT_FALSE(body.is_discarded()) << whole.text();
  return {request.path, body};
}

TEST(RemoteOpenAiTest, APromptGoesToCompletions) {
  const Sent sent = Send("{}", "a \"quoted\"\n\\ text\x01 with ü");
  EXPECT_EQ(sent.path, "/completions");
  EXPECT_EQ(sent.body, json({{"model", "org/name:tag"}, {"prompt", "a \"quoted\"\n\\ text\x01 with ü"}}));
}

TEST(RemoteOpenAiTest, MessagesGoToChats) {
  const std::string messages = R"([{"role": "user", "content": "Hi"}])";
  const Sent sent = Send(R"({"chat": true})", messages);
  EXPECT_EQ(sent.path, "/chat/completions");
  EXPECT_EQ(sent.body, json({{"model", "org/name:tag"}, {"messages", json::parse(messages)}}));
}

TEST(RemoteOpenAiTest, OptionsBecomeFields) {
  const Sent sent = Send(R"({"temp": 0, "top-p": 0.5, "seed": 7, "n-predict": 9, "reverse-prompt": "end", "top-k": 3,
                             "min-p": 0.1, "repeat-penalty": 1.5, "grammar": "root ::= \"a\"", "logit-bias": {"5": -1},
                             "n-probs": 2, "json-schema": {"b": 1, "a": 2}, "ctx-size": 100, "tools": []})");
  EXPECT_EQ(sent.body, json({{"model", "org/name:tag"},
                             {"prompt", "Hello"},
                             {"temperature", 0.0},
                             {"top_p", 0.5},
                             {"seed", 7},
                             {"max_tokens", 9},
                             {"stop", {"end"}},
                             {"top_k", 3},
                             {"min_p", 0.1},
                             {"repeat_penalty", 1.5},
                             {"grammar", "root ::= \"a\""},
                             {"logit_bias", {{"5", -1}}},
                             {"logprobs", 2},
                             {"json_schema", {{"b", 1}, {"a", 2}}}}));
}

TEST(RemoteOpenAiTest, ChatOptionsBecomeFields) {
  const Sent sent = Send(R"({"chat": true, "n-predict": 9, "n-probs": 2, "json-schema": "{\"type\": \"object\"}",
                             "tools": [{"type": "function", "function": {"name": "f"}}], "tool-choice": "required",
                             "enable-thinking": false, "continue-final-message": "always"})",
                         R"([{"role": "user", "content": "Hi"}])", R"({"max_tokens_field": "max_completion_tokens"})");
  json body = sent.body;
  body.erase("messages");
  EXPECT_EQ(body,
            json({{"model", "org/name:tag"},
                  {"max_completion_tokens", 9},
                  {"logprobs", true},
                  {"top_logprobs", 2},
                  {"response_format",
                   {{"type", "json_schema"}, {"json_schema", {{"name", "answer"}, {"schema", {{"type", "object"}}}}}}},
                  {"tools", {{{"type", "function"}, {"function", {{"name", "f"}}}}}},
                  {"tool_choice", "required"},
                  {"chat_template_kwargs", {{"enable_thinking", false}}},
                  {"continue_final_message", true}}));
}

TEST(RemoteOpenAiTest, LaterOptionsOverrideEarlierOnes) {
  EXPECT_EQ(
      Send(R"({"temp": 0.25, "seed": -1, "n-predict": -1})", "Hello", R"({"temp": 1, "seed": 3, "n-predict": 4})").body,
      json({{"model", "org/name:tag"}, {"prompt", "Hello"}, {"temperature", 0.25}}));
}

TEST(RemoteOpenAiTest, ListsArePassedOn) {
  EXPECT_EQ(Send(R"({"tokens": true})", "[1, 2]").body["prompt"], json({1, 2}));
  const Sent sent = Send(R"({"embedding": true, "texts": true, "temp": 0, "embd-normalize": -1})", R"(["a", "b"])");
  EXPECT_EQ(sent.path, "/embeddings");
  EXPECT_EQ(
      sent.body,
      json({{"model", "org/name:tag"}, {"input", {"a", "b"}}, {"encoding_format", "float"}, {"embd_normalize", -1}}));
  EXPECT_EQ(Send(R"({"embedding": true})").body["input"], "Hello");
}

TEST(RemoteOpenAiTest, TheHostNamesTheServersApi) {
  const Sent sent = Send("{}", "Hello", R"({"api": "chat"})");
  EXPECT_EQ(sent.path, "/chat/completions");
  EXPECT_EQ(sent.body["messages"], json::parse(R"([{"role": "user", "content": "Hello"}])"));
  EXPECT_EQ(Send("{}", "Hello", R"({"api": "embeddings"})").path, "/embeddings");
  const auto api = [](const char* guest, const char* host) {
    return Refused(WASINN_ERROR_UNSUPPORTED_OPERATION, [&] { (void)Settings(guest, host).api(); });
  };
  EXPECT_THAT(api(R"({"chat": true})", R"({"api": "completions"})"), HasSubstr("chat: the host says"));
  EXPECT_THAT(api(R"({"embedding": true})", R"({"api": "chat"})"), HasSubstr("embedding: the host says"));
  EXPECT_THAT(api(R"({"tokens": true})", R"({"api": "chat"})"), HasSubstr("tokens: the host says"));
}

TEST(RemoteOpenAiTest, RefusesKeysThatNoServerFollows) {
  for (const char* options : {R"({"decode": true})", R"({"tokenize": true})", R"({"rerank": true})",
                              R"({"save-state": "a"})", R"({"lora": "a"})", R"({"context-shift": true})",
                              R"({"chat-template": "chatml"})", R"({"add-special": false})", R"({"image": "/a"})"}) {
    EXPECT_NE(Refused(WASINN_ERROR_UNSUPPORTED_OPERATION, [&] { Settings(options); }), "") << options;
  }
  Settings(R"({"decode": false, "image": "", "add-special": true, "keep": 3, "lora-scale": 1, "flash-attn": "on"})");
}

TEST(RemoteOpenAiTest, ErrorsNameTheInvalidKey) {
  const auto refused = [](const char* options) {
    return Refused(WASINN_ERROR_INVALID_ARGUMENT, [&] { Settings(options); });
  };
  EXPECT_THAT(refused(R"({"temp": "hot"})"), HasSubstr("temp: expected a number"));
  EXPECT_THAT(refused(R"({"n-predict": 1.5})"), HasSubstr("n-predict: expected a whole number"));
  EXPECT_THAT(refused(R"({"tools": {"type": "function"}})"), HasSubstr("tools: expected a list"));
  EXPECT_THAT(refused(R"({"tools": [{"type": "mcp", "server_url": "http://10.0.0.1"}]})"),
              HasSubstr("of type \"function\""));
  EXPECT_THAT(refused(R"({"texts": true})"), HasSubstr("expected embedding and no chat"));
  EXPECT_THAT(refused(R"({"chat-template-kwargs": [1]})"), HasSubstr("expected an object"));
  EXPECT_THAT(refused(("{\"grammar\": \"" + std::string(70000, 'a') + "\"}").c_str()),
              HasSubstr("at most 65536 bytes"));
}

TEST(RemoteOpenAiTest, UnknownKeysAreNamed) {
  const backend::Config config(R"({"temp": 1, "ctx-size": 5, "lora": "a", "wrong": 1, "api": "chat"})", "guest");
  EXPECT_THAT(UnknownKeys(config), ElementsAre("api", "wrong"));
}

TEST(RemoteOpenAiTest, IgnoresTheHostsKeysForLocalModels) {
  for (const char* name : {"ctx-size", "batch-size", "threads", "n-gpu-layers", "flash-attn"}) {
    const auto one =
        std::ranges::find_if(LanguageKeys(), [&](const wasinn_key& key) { return key.name == std::string(name); });
    ASSERT_NE(one, LanguageKeys().end()) << name;
    EXPECT_NE(one->where & WASINN_KEY_MODEL, 0U) << name;
  }
  EXPECT_EQ(Settings("{}", R"({"ctx-size": 100, "threads": 2})").Fields(), "");
}

TEST(RemoteOpenAiTest, ATensorModelsErrorNamesTheAddressOfLanguageModels) {
  const auto model = NewOipGrpc(ParseAddress("grpc://a:1/m"));
  const auto refused = [&](const char* options) {
    return Refused(WASINN_ERROR_INVALID_ARGUMENT, [&] { model->Configure(options); });
  };
  EXPECT_THAT(refused(R"({"n-predict": 5})"),
              ::testing::EndsWith("; a language model's address is http://HOST:PORT/v1/MODEL"));
  EXPECT_THAT(refused(R"({"wrong": 5})"), ::testing::EndsWith("no key 'wrong' for guests of this model"));
}

// Contexts are a guest's to make, as many as it likes.
TEST(RemoteOpenAiTest, UnknownKeysAreLoggedOnce) {
  std::vector<std::string> lines;
  wasinn_host_services services{.struct_size = sizeof(wasinn_host_services)};
  services.host = &lines;
  services.log = [](void* lines, uint32_t, const char* line) {
    static_cast<std::vector<std::string>*>(lines)->emplace_back(line);
  };
  const auto model = NewOpenAi(ParseAddress("http://a:1/v1/m"), "{}", backend::Log(services));
  for (int i = 0; i < 3; ++i) (void)model->Configure(R"({"wrong": 1, "temp": 0})");
  EXPECT_THAT(lines, ElementsAre(HasSubstr("unknown keys: wrong")));
  (void)model->Configure(R"({"wrong": 1, "odd": 0})");
  EXPECT_THAT(lines.back(), ::testing::EndsWith("unknown keys: odd"));
  for (int i = 0; i < 1000; ++i) (void)model->Configure(("{\"key" + std::to_string(i) + "\": 1}").c_str());
  EXPECT_LE(lines.size(), 64U);
}

TEST(RemoteOpenAiTest, NothingIsFetchedForAGuest) {
  const auto messages = [](const std::string& part) {
    return Refused(WASINN_ERROR_INVALID_ARGUMENT,
                   [&] { CheckMessages(R"([{"role": "user", "content": [)" + part + "]}]"); });
  };
  EXPECT_EQ(messages(R"({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}})"), "");
  EXPECT_EQ(messages(R"({"type": "text", "text": "http://host/"})"), "");
  EXPECT_THAT(messages(R"({"type": "image_url", "image_url": {"url": "http://10.0.0.1/"}})"),
              HasSubstr("nothing is fetched"));
  EXPECT_THAT(messages(R"({"type": "image_url", "image_url": "file:///etc/passwd"})"), HasSubstr("nothing is fetched"));
  EXPECT_THAT(messages(R"({"type": "x", "video_url": ["data:,", "http://a/"]})"), HasSubstr("nothing is fetched"));
  EXPECT_THAT(messages(R"({"image_url": {"detail": {}, "url": "http://a/"}})"), HasSubstr("nothing is fetched"));
  EXPECT_EQ(messages(R"({"image_url": {"detail": "low", "url": "data:image/png;base64,AA=="}})"), "");
  EXPECT_EQ(messages(R"({"image_url": {"url": "data:,"}}, {"type": "text", "text": "http://host/"})"), "");
}

TEST(RemoteOpenAiTest, NothingIsFetchedUnderOtherNames) {
  for (const char* part : {
           R"({"Image_URL": {"url": "http://a/"}})",
           R"({"image_url": {"URL": "http://a/"}})",
           R"({"\u0075rl": "http://a/"})",
           R"({"imageUrl": "http://a/"})",
           R"({"image_uri": "http://a/"})",
           R"({"image_urls": ["http://a/"]})",
           R"({"image_url": [[], "http://a/"]})",
           R"({"image_url": [{"url": "data:,"}, "http://a/"]})",
           R"({"image_url": [{"x": 1}, [["http://a/"]]]})",
           R"({"url": {"uri": "http://a/"}})",
           R"({"url": {"x": "http://a/"}})",
           R"({"url": {"x": {"y": ["/etc/passwd"]}}})",
           R"({"url": "data:,", "url": "http://a/"})",
           R"({"image_url": {"detail": "low"}, "video_url": "localhost"})",
           R"({"image_url": " data:,"})",
       }) {
    EXPECT_THAT(Refused(WASINN_ERROR_INVALID_ARGUMENT,
                        [&] { CheckMessages(R"([{"role": "user", "content": [)" + std::string(part) + "]}]"); }),
                HasSubstr("nothing is fetched"))
        << part;
  }
}

TEST(RemoteOpenAiTest, NothingIsFetchedBySchemas) {
  const auto refused = [](const std::string& options) {
    return Refused(WASINN_ERROR_INVALID_ARGUMENT, [&] { Settings(options.c_str()); });
  };
  for (const char* reference : {R"("$ref": "http://a/")", R"("$ref": "other.json")", R"("$Ref": "https://a/#/b")",
                                R"("$dynamicRef": "http://a/#b")", R"("$ref": ["http://a/"])",
                                R"("\u0024ref": "http://a/")", R"("$ref": "#/a", "$ref": "http://a/")"}) {
    const std::string schema = std::string(R"({"type": "object", "properties": {"a": {)") + reference + "}}}";
    EXPECT_THAT(refused(R"({"json-schema": )" + schema + "}"), HasSubstr("json-schema: nothing is fetched")) << schema;
    EXPECT_THAT(refused(json{{"json-schema", schema}}.dump()), HasSubstr("json-schema: nothing is fetched")) << schema;
    EXPECT_THAT(
        refused(R"({"tools": [{"type": "function", "function": {"name": "f", "parameters": )" + schema + "}}]}"),
        HasSubstr("tools: nothing is fetched"))
        << schema;
  }
  Settings(R"({"json-schema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"a": {}},
               "properties": {"a": {"$ref": "#/$defs/a"}, "$ref": {"description": "http://a/"}}}})");
  EXPECT_THAT(Refused(WASINN_ERROR_UNSUPPORTED_OPERATION,
                      [] { Settings(R"({"chat-template-kwargs": {"x": 1, "Chat_Template": "{{ x }}"}})"); }),
              HasSubstr("chat-template-kwargs: "));
}

// The checked value is the one that is sent.
TEST(RemoteOpenAiTest, TheLastOfToolsWithOneNameIsSent) {
  const std::string twice = R"([{"type": "mcp", "type": "function", "z": 1, "a": 2}])";
  LanguageSettings settings;
  settings.Apply(backend::Config(json{{"chat", true}, {"tools", twice}}.dump().c_str(), "guest"));
  EXPECT_THAT(settings.Fields(), HasSubstr(R"("tools":[{"type":"function","z":1,"a":2}])"));
}

TEST(RemoteOpenAiTest, AByte0DoesNotEndAPrompt) {
  using std::string_literals::operator""s;
  EXPECT_NE(Refused(WASINN_ERROR_INVALID_ARGUMENT, [] { CheckMessages("[{\"role\": \"user\"}]\0, \"tools\": []"s); }),
            "");
  EXPECT_NE(Refused(WASINN_ERROR_INVALID_ARGUMENT, [] { CheckMessages("[{\"role\": \"user\"}]\0"s); }), "");
  EXPECT_NE(Refused(WASINN_ERROR_INVALID_ARGUMENT, [] { CheckList("[1]\0, \"n\": 5"s); }), "");
  for (const char* key : {"json-schema", "tools", "chat-template-kwargs"}) {
    const std::string options = json{{key, "{}\0, \"n\": 5"s}}.dump();
    EXPECT_THAT(Refused(WASINN_ERROR_INVALID_ARGUMENT, [&] { Settings(options.c_str()); }), HasSubstr(key)) << options;
  }
}

TEST(RemoteOpenAiTest, RefusesInvalidPrompts) {
  for (const std::string text : {"", "Hello", "[]", "{}", "[1",
                                 R"([{"a": 1}] )"
                                 "x",
                                 R"([{"a": 1}], "n": 5)"}) {
    EXPECT_NE(Refused(WASINN_ERROR_INVALID_ARGUMENT, [&] { CheckMessages(text); }), "") << text;
  }
  EXPECT_NE(Refused(WASINN_ERROR_INVALID_ARGUMENT, [] { CheckMessages(std::string(40, '[') + std::string(40, ']')); }),
            "");
  for (const std::string text : {"", "[]", "1", R"([{"image": "http://a/"}])", "[[[1]]]"}) {
    EXPECT_NE(Refused(WASINN_ERROR_INVALID_ARGUMENT, [&] { CheckList(text); }), "") << text;
  }
  EXPECT_NE(Refused(WASINN_ERROR_INVALID_ARGUMENT, [] { CheckText("\xff"); }), "");
  EXPECT_NE(Refused(WASINN_ERROR_INVALID_ARGUMENT, [] { CheckText(""); }), "");
}

TEST(RemoteOpenAiAnswerTest, ReadsACompletion) {
  const LanguageAnswer answer = ReadLanguageAnswer(
      R"({"choices": [{"text": "so", "finish_reason": "length", "logprobs": {"tokens": ["s", "o"], "token_logprobs": [-1, -2],
          "top_logprobs": [{"x": -3}, null]}}],
          "usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}})");
  EXPECT_EQ(answer.completion, "so");
  EXPECT_EQ(answer.message, "");
  const json metadata = json::parse(answer.metadata);
  EXPECT_EQ(metadata["input_tokens"], 5);
  EXPECT_EQ(metadata["output_tokens"], 2);
  EXPECT_EQ(metadata["evaluated_tokens"], 2);
  EXPECT_EQ(metadata["finish_reason"], "length");
  EXPECT_EQ(
      answer.probabilities,
      R"([{"token":"s","logprob":-1.0,"bytes":[115],"top_logprobs":[{"token":"x","logprob":-3.0,"bytes":[120]}]},)"
      R"({"token":"o","logprob":-2.0,"bytes":[111],"top_logprobs":[]}])");
}

TEST(RemoteOpenAiAnswerTest, ReadsAChat) {
  const LanguageAnswer answer = ReadLanguageAnswer(
      R"({"choices": [{"message": {"role": "assistant", "content": null, "reasoning": "hm", "odd": 1, "tool_calls":
          [{"id": "c1", "index": 0, "type": "function", "function": {"arguments": "{}", "name": "f"}}]},
          "finish_reason": "tool_calls", "logprobs": {"content": [{"token": "a", "logprob": -1.5, "bytes": [255], "top_logprobs": []}]}}]})");
  EXPECT_EQ(answer.completion, "");
  EXPECT_EQ(answer.message, R"({"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":)"
                            R"([{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]})");
  EXPECT_EQ(json::parse(answer.metadata)["finish_reason"], "tool_calls");
  EXPECT_EQ(answer.probabilities, R"([{"token":"a","logprob":-1.5,"bytes":[255],"top_logprobs":[]}])");
}

TEST(RemoteOpenAiAnswerTest, ReadsEmbeddings) {
  const LanguageAnswer two = ReadLanguageAnswer(
      R"({"data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1, 2.5]}], "usage": {"prompt_tokens": 4}})");
  EXPECT_EQ(two.texts, 2U);
  EXPECT_THAT(two.embeddings, ElementsAre(1, 2.5, 3, 4));
  EXPECT_EQ(two.completion, R"({"n_embedding":2,"n_texts":2})");
  EXPECT_EQ(json::parse(two.metadata)["input_tokens"], 4);
  EXPECT_EQ(json::parse(ReadLanguageAnswer(R"({"data": [{"embedding": [0.5]}]})").completion),
            json({{"n_embedding", 1}, {"n_texts", 1}, {"embedding", {0.5}}}));
}

TEST(RemoteOpenAiAnswerTest, RefusesInvalidAnswers) {
  std::string deep = R"({"choices": [)" + std::string(200, '[') + std::string(200, ']') + "]}";
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{"), std::string("{}"), std::string(R"({"choices": []})"), deep,
        std::string(R"({"choices": [1]})"), std::string(R"({"choices": {"0": {}}})"),
        std::string(R"({"choices": [{"message": "text"}]})"), std::string(R"({"choices": [{"text": 5}]})"),
        std::string(R"({"choices": [{"message": {"tool_calls": [{}]}}]})"), std::string(R"({"data": []})"),
        std::string(R"({"data": [{"embedding": []}]})"), std::string(R"({"data": [{"embedding": "AAAA"}]})"),
        std::string(R"({"data": [{"embedding": ["1"]}]})"),
        std::string(R"({"data": [{"embedding": [1]}, {"embedding": [1, 2]}]})"),
        std::string(R"({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]})"),
        std::string(R"({"data": [{"index": 7, "embedding": [1]}]})")}) {
    EXPECT_THAT(Refused(WASINN_ERROR_RUNTIME, [&] { ReadLanguageAnswer(text); }),
                HasSubstr("the server's answer does not follow OpenAI's API"))
        << text;
  }
}

TEST(RemoteOpenAiAnswerTest, IgnoresPartsOfAnotherType) {
  for (const std::string logprobs :
       {R"({"tokens": 5, "token_logprobs": [-1]})", R"({"tokens": ["so"], "token_logprobs": 5})",
        R"({"tokens": ["so"], "token_logprobs": []})"}) {
    const LanguageAnswer answer =
        ReadLanguageAnswer(R"({"choices": [{"text": "so", "finish_reason": {"a": 1}, "logprobs": )" + logprobs +
                           R"(}], "usage": {"prompt_tokens": -1}})");
    EXPECT_EQ(answer.completion, "so");
    EXPECT_EQ(answer.probabilities, "") << logprobs;
    const json metadata = json::parse(answer.metadata);
    EXPECT_EQ(metadata["input_tokens"], 0);
    EXPECT_EQ(metadata["finish_reason"], nullptr);
  }
}

TEST(RemoteOpenAiAnswerTest, ReadsListsOfModels) {
  EXPECT_THAT(ReadModels(R"({"data": [{"id": "a"}, {"id": "org/b:c", "aliases": ["other"]}]})"),
              Optional(ElementsAre("a", "org/b:c", "other")));
  EXPECT_THAT(ReadModels(R"({"data": [{"id": "a"}, 5, {"id": 6}]})"), Optional(ElementsAre("", "a")));
  for (const char* none : {"", "nonsense", "{}", R"({"data": []})", R"({"data": 1})"})
    EXPECT_EQ(ReadModels(none), std::nullopt) << none;
  EXPECT_NE(Refused(WASINN_ERROR_RUNTIME, [] { ReadModels(std::string(2 << 20, ' ')); }), "");
}

TEST(RemoteOpenAiAnswerTest, ReadsErrors) {
  constexpr char kTooLong[] = R"({"error": {"message": "too many", "code": "context_length_exceeded"}})";
  EXPECT_TRUE(SaysTooLong(kTooLong));
  EXPECT_EQ(StatusOf(400, kTooLong).error_message(), "too many");
  EXPECT_TRUE(SaysTooLong(R"({"error": {"type": "exceed_context_size_error"}})"));
  EXPECT_EQ(StatusOf(400, R"({"error": "plain"})").error_message(), "plain");
  for (const char* none : {"", "[]", "{}", R"({"error": 5})", R"({"error": {"message": 5}})"}) {
    EXPECT_FALSE(SaysTooLong(none)) << none;
    EXPECT_THAT(StatusOf(400, none).error_message(), HasSubstr("HTTP 400 Bad Request")) << none;
  }
  const std::string deep = R"({"error": )" + std::string(30000, '[');
  EXPECT_FALSE(SaysTooLong(deep));
  EXPECT_THAT(StatusOf(400, deep).error_message(), HasSubstr("HTTP 400 Bad Request"));
}

TEST(RemoteErrorsTest, AServersMessageBecomesOneLineOfUtf8) {
  EXPECT_EQ(Quoted("a\nü\x7f"), "a ü ");
  EXPECT_EQ(Quoted("a\xff"), "a?");
  EXPECT_EQ(Quoted(std::string(999, 'a') + "ü!"), std::string(999, 'a') + "…");
  EXPECT_EQ(Quoted(std::string(1500, '\xbf')), "…");
}

TEST(RemoteErrorsTest, MessagesForGuestsHaveNoAddress) {
  EXPECT_EQ(WithoutAddress("failed to connect; last error: UNKNOWN: ipv4:10.0.0.3:8001: refused (111)", "a:8001"),
            "failed to connect; last error: UNKNOWN: refused (111)");
  EXPECT_EQ(WithoutAddress("ipv6:%5B::1%5D:80", "a:80"), "");
  EXPECT_EQ(WithoutAddress("DNS resolution failed for a-b.c:80: name=a-b.c: not found", "a-b.c:80"),
            "DNS resolution failed for the server: name=the server: not found");
  EXPECT_EQ(WithoutAddress("'a' is a word, an a-b is none", "a-b:1"), "'a' is a word, an the server is none");
  EXPECT_EQ(WithoutAddress("[::1]:80 and [::1]", "[::1]:80"), "the server and the server");
}

TEST(RemoteOpenAiAnswerTest, MemoryIsThatOfTheLargest) {
  // A list of lists is the most that few bytes can ask for.
  const std::string lists = R"({"choices": [[],[],[],[],[]]})";
  EXPECT_GE(JsonMemory(lists), 5 * (2 * sizeof(json) + sizeof(std::vector<json>)));
  EXPECT_GE(JsonMemory("{}"), sizeof(json));
}

TEST(RemoteOpenAiAnswerTest, ProbabilitiesTakeMoreThanTheirJson) {
  EXPECT_EQ(ProbabilitiesMemory(R"({"choices": [{"text": "so", "logprobs": null}]})"), 0U);
  EXPECT_EQ(ProbabilitiesMemory(R"({"data": [{"embedding": [1, 2, 3]}]})"), 0U);
  EXPECT_EQ(ProbabilitiesMemory(R"({"choices": [{"text": "\u003cb\u003e \u4f60"}]})"), 0U) << "as Go writes JSON";
  EXPECT_GT(ProbabilitiesMemory(R"({"choices": [{"text": "so", "\u006cogprobs": {}}]})"), 0U);
  for (const std::string& token : {std::string("a"), std::string(1000, 'a'), std::string(1000, '\x01')}) {
    json tokens = json::array(), logprobs = json::array();
    for (int i = 0; i < 100; ++i) {
      tokens.push_back(token);
      logprobs.push_back(-1);
    }
    const std::string text =
        json{{"choices", {{{"text", "so"}, {"logprobs", {{"tokens", tokens}, {"token_logprobs", logprobs}}}}}}}.dump();
    // A value of JSON for each byte, and the text with a few copies.
    const size_t read = ReadLanguageAnswer(text).probabilities.size();
    EXPECT_GE(ProbabilitiesMemory(text), 100 * token.size() * sizeof(json) + 6 * read) << token.size();
  }
}

}  // namespace
}  // namespace wasinn::remote
