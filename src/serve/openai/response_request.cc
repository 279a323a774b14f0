#include "serve/openai/response_request.h"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "serve/openai/common_request.h"
#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;
using simdjson::dom::element;

// The messages of a chat, as a list in JSON.
class Messages {
 public:
  // `content`: as JSON has it.
  void Add(const std::string& role, const std::string& content) {
    if (text_.size() > 1) text_ += ',';
    text_ += R"({"role":)" + Dump(role) + R"(,"content":)" + content + '}';
  }
  std::string Take() { return std::exchange(text_, {}) + ']'; }

 private:
  std::string text_ = "[";
};

// As a chat has it: texts become one text, unless there is an image between them.
std::string ContentOf(element content) {
  if (content.is_string()) return ToText(content);
  if (!content.is_array())
    ThrowWrong("input", "an item of input has no content: a text, or a list of texts and images");
  std::string text;
  json parts = json::array();
  const auto end_text = [&text, &parts] {
    if (!text.empty()) parts.push_back({{"type", "text"}, {"text", std::exchange(text, {})}});
  };
  for (const element part : content.get_array()) {
    Fields fields(part, "input.content");
    const std::string type = fields.Text("type").value_or("");
    if (type == "input_image") {
      auto url = fields.Text("image_url");
      if (!url) ThrowWrong("input", "an image of input has no image_url, and files are not served");
      end_text();
      parts.push_back({{"type", "image_url"}, {"image_url", {{"url", *std::move(url)}}}});
    } else if (type == "input_text" || type == "output_text") {
      text += fields.Text("text").value_or("");
    } else {
      throw ApiError{.message = "an item of input has a part that is no text and no image",
                     .param = "input",
                     .code = "unsupported_parameter"};
    }
  }
  if (parts.empty()) return Dump(text);
  end_text();
  return Dump(parts);
}

void AddInput(element input, Messages& messages) {
  if (input.is_string()) return messages.Add("user", ToText(input));
  if (!input.is_array() || input.get_array().size() == 0)
    ThrowWrong("input", "input is no text, nor a list of messages");
  for (const element item : input.get_array()) {
    Fields fields(item, "input");
    if (fields.Text("type").value_or("message") != "message") {
      throw ApiError{.message = "an item of input is no message", .param = "input", .code = "unsupported_parameter"};
    }
    const std::string role = fields.Text("role").value_or("");
    if (role.empty()) ThrowWrong("input", "an item of input has no role");
    messages.Add(role, ContentOf(fields.Get("content")));
  }
}

// `text.format`, in the words of a chat's response_format.
void ReadFormat(Fields& fields, Options& options) {
  auto text = fields.Object("text");
  if (!text) return;
  auto format = text->Object("format");
  text->Refuse({"verbosity"});
  text->CheckAllRead();
  if (!format) return;
  const std::string type = format->Text("type").value_or("");
  if (type == "json_schema") {
    options.Add("json-schema", ToText(format->Get("schema")));
    format->Ignore({"name", "description", "strict"});
  } else if (type == "json_object") {
    options.Add("json-schema", kAnyObject);
  } else if (type != "text") {
    ThrowWrong("text.format.type", "text.format.type is none of text, json_object and json_schema");
  }
  format->CheckAllRead();
}

}  // namespace

TextRequest ReadResponse(element body) {
  Fields fields(body);
  TextRequest request;
  request.model = fields.Text("model").value_or("");
  request.is_stream = fields.Flag("stream").value_or(false);
  ReadTold(fields, request);
  Messages messages;
  if (const auto instructions = fields.Text("instructions")) messages.Add("system", Dump(*instructions));
  AddInput(fields.Get("input"), messages);
  request.prompts.texts = {messages.Take()};
  Options options;
  options.Add("chat", "true");
  ReadSampling(fields, options);
  constexpr std::string_view kMostTokens[] = {"max_output_tokens"};
  ReadMostTokens(fields, kMostTokens, options);
  ReadFormat(fields, options);
  fields.Ignore({"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
                 "prompt_cache_retention", "stream_options", "truncation", "parallel_tool_calls", "tool_choice",
                 "top_logprobs"});
  fields.Refuse({"tools", "previous_response_id", "conversation", "background", "include", "reasoning", "prompt",
                 "max_tool_calls"});
  fields.CheckAllRead();
  TakeOptions(options, request);
  return request;
}

}  // namespace wasinn::serve::openai
