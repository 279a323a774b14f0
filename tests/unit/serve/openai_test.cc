// How requests of OpenAI's API are read, and the events of a stream for a message that grows.
#include <nlohmann/json.hpp>

#include "serve/http/min_data_rate.h"
#include "serve/openai/fields.h"
#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"
#include "serve/openai/vectors.h"
#include "support/test.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;

template <typename T>
T Read(std::string_view text, T (*read)(simdjson::dom::element)) {
  RequestBytes body(Charge(std::make_shared<MemoryBudget>(1u << 20)));
  if (!body.Append(text.data(), text.size())) throw std::bad_alloc();
  return ReadBody(body, read);
}

// Works on a copy, because a prompt is taken once.
Prompt PromptOf(TextRequest request) { return request.prompts.Take(0); }
json OptionsOf(const TextRequest& request) { return json::parse(PromptOf(request).options); }

// "": nothing is wrong.
std::string WrongField(std::string_view text, TextRequest (*read)(simdjson::dom::element)) {
  try {
    Read(text, read);
    return "";
  } catch (const ApiError& error) {
    return error.param.empty() ? error.message : error.param;
  }
}

TEST(OpenAiRequest, AChatIsTranslatedToTheModelsKeys) {
  const TextRequest request = Read(
      R"({"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.5, "top_p": 1, "max_completion_tokens": 7.0,
          "seed": 4294967297, "stop": "x", "logprobs": true, "top_logprobs": 0, "stream": true,
          "stream_options": {"include_usage": true}, "response_format": {"type": "json_object"},
          "tools": [{"type": "function"}], "tool_choice": "auto", "parallel_tool_calls": false, "reasoning_effort": "none"})",
      ReadChat);
  EXPECT_EQ(request.model, "m");
  EXPECT_TRUE(request.is_stream);
  EXPECT_TRUE(request.wants_usage);
  EXPECT_EQ(request.n_top, 0u);
  EXPECT_EQ(json::parse(PromptOf(request).prompt), json::parse(R"([{"role": "user", "content": "hi"}])"));
  EXPECT_EQ(OptionsOf(request), json::parse(R"({"chat": true, "temp": 0.5, "top-p": 1.0, "n-predict": 7, "seed": 1,
      "reverse-prompt": "x", "n-probs": 0, "json-schema": {"type": "object"}, "tools": [{"type": "function"}], "tool-choice": "auto",
      "parallel-tool-calls": false, "enable-thinking": false, "continue-final-message": "auto"})"));
}

TEST(OpenAiRequest, ACompletionIsTranslatedToTheModelsKeys) {
  const TextRequest request =
      Read(R"({"prompt": ["a \"b\""], "logit_bias": {"5": -100}, "logprobs": 3, "n_predict": -1, "user": "me"})",
           ReadCompletion);
  EXPECT_EQ(PromptOf(request).prompt, "a \"b\"");
  EXPECT_EQ(OptionsOf(request), json::parse(R"({"logit-bias": {"5": -100}, "n-predict": -1, "n-probs": 3})"));
  EXPECT_EQ(request.n_top, 3u);
}

TEST(OpenAiRequest, ErrorsNameTheInvalidField) {
  EXPECT_EQ(WrongField(R"({"prompt": "a", "stop": {"a": 1}})", ReadCompletion), "stop");
  EXPECT_EQ(WrongField(R"({"prompt": "a", "stream": true, "stream_options": {"include_usage": 1}})", ReadCompletion),
            "stream_options.include_usage");
  EXPECT_EQ(WrongField(R"({"messages": [1], "response_format": {"type": "json_schema"}})", ReadChat),
            "response_format.schema");
  EXPECT_EQ(WrongField(R"({"messages": [1], "response_format": {"type": "json_schema", "json_schema": {}}})", ReadChat),
            "response_format.json_schema.schema");
  EXPECT_EQ(WrongField(R"({"messages": [1], "top_logprobs": 21, "logprobs": true})", ReadChat), "top_logprobs");
  EXPECT_EQ(WrongField(R"({"messages": [1], "seed": 1.5})", ReadChat), "seed");
  EXPECT_EQ(WrongField(R"({"messages": [1], "a": 1, "a": 1})", ReadChat), "a");
  EXPECT_EQ(WrongField(R"({"messages": [1], "functions": null, "suffix": null})", ReadChat), "");
}

// An error message has their number, not their contents.
TEST(OpenAiRequest, ManyPromptsAreCountedBeforeTheyAreRead) {
  std::string many = R"({"prompt": [{})";
  for (int i = 0; i < 128; ++i) many += R"(, "1")";
  try {
    Read(many + "]}", ReadCompletion);
    ADD_FAILURE() << "it was read";
  } catch (const ApiError& error) {
    EXPECT_NE(error.message.find("there are 129 prompts"), std::string::npos) << error.message;
  }
}

// The memory of the prompt, of its tensor, and of its copy in the answer.
TEST(OpenAiRequest, CountsItsMemory) {
  const std::string text(1000, 'x');
  EXPECT_GE(Read(R"({"input": ")" + text + R"("})", ReadEmbeddings).bytes(), 2000u);
  const std::string rerank = R"({"query": "q", "documents": [")" + text + R"("], "return_documents": )";
  EXPECT_GE(Read(rerank + "false}", ReadRerank).bytes(), 2000u);
  EXPECT_GE(Read(rerank + "true}", ReadRerank).bytes(), 3000u);
}

TEST(OpenAiStream, SendsChangesOfAMessage) {
  MessageChanges changes;
  EXPECT_EQ(changes.New({{"role", "assistant"}, {"content", nullptr}}), json::object());
  EXPECT_EQ(changes.New({{"content", "a"}}), json({{"content", "a"}}));
  EXPECT_EQ(changes.New({{"content", "a"}}), json::object());
  EXPECT_EQ(changes.New({{"content", "ab"}, {"reasoning_content", "r"}}),
            json({{"content", "b"}, {"reasoning_content", "r"}}));
  // Taken for a text first, and for something else later: nothing is sent twice.
  EXPECT_EQ(changes.New({{"content", "x"}}), json::object());
  EXPECT_EQ(changes.New({{"content", "abc"}}), json({{"content", "c"}}));
}

TEST(OpenAiStream, SendsChangesOfToolCalls) {
  MessageChanges changes;
  const auto call = [](const char* arguments) {
    return json{{"id", "1"}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", arguments}}}};
  };
  json first = call("{");
  first["index"] = 0;
  EXPECT_EQ(changes.New({{"tool_calls", json::array({call("{")})}}), json({{"tool_calls", json::array({first})}}));
  const json more = {{"index", 0}, {"function", {{"arguments", "\"a\""}}}};
  json second = call("");
  second["index"] = 1;
  EXPECT_EQ(changes.New({{"tool_calls", json::array({call("{\"a\""), call("")})}}),
            json({{"tool_calls", json::array({more, second})}}));
}

TEST(OpenAiStream, TimeWithoutOutputDoesNotCountAgainstTheClient) {
  MinDataRate min_rate(std::chrono::seconds(30));
  const auto before = min_rate.deadline();
  min_rate.Skip(std::chrono::hours(1));
  EXPECT_EQ(min_rate.deadline() - before, std::chrono::hours(1));
}

}  // namespace
}  // namespace wasinn::serve::openai
