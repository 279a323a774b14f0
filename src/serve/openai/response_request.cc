#include "serve/openai/text_request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "serve/openai/sampling.h"

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;
using simdjson::dom::element;

// The messages of a chat, as a JSON list. An assistant's thoughts, message and calls become one message.
class Messages {
 public:
  // `content`: as JSON.
  void Add(const std::string& role, const std::string& content, const std::string& call_id = "") {
    EndTurn();
    Append(R"("role":)" + Dump(role) + R"(,"content":)" + content +
           (call_id.empty() ? "" : R"(,"tool_call_id":)" + Dump(call_id)));
  }
  void AddThought(const std::string& text) {
    if (!content_.empty() || !calls_.empty()) EndTurn();
    thought_ += text;
  }
  void AddAnswer(std::string content) {
    if (!content_.empty() || !calls_.empty()) EndTurn();
    content_ = std::move(content);
  }
  void AddCall(const std::string& id, const json& function) {
    calls_ += (calls_.empty() ? "" : ",") + Dump({{"id", id}, {"type", "function"}, {"function", function}});
  }
  std::string Take() {
    EndTurn();
    return std::exchange(text_, {}) + ']';
  }

 private:
  void Append(const std::string& members) { text_ += (text_.size() > 1 ? ",{" : "{") + members + '}'; }
  // Ends the assistant's message.
  void EndTurn() {
    if (thought_.empty() && content_.empty() && calls_.empty()) return;
    std::string members = R"("role":"assistant","content":)" + (content_.empty() ? R"("")" : content_);
    if (!thought_.empty()) members += R"(,"reasoning_content":)" + Dump(thought_);
    if (!calls_.empty()) members += R"(,"tool_calls":[)" + calls_ + ']';
    thought_.clear();
    content_.clear();
    calls_.clear();
    Append(members);
  }

  std::string text_ = "[", thought_, content_, calls_;
};

// As in a chat: texts are joined, unless there is an image.
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
      if (!url) ThrowWrong("input", "an image of input has no image_url, and files are not supported");
      end_text();
      parts.push_back({{"type", "image_url"}, {"image_url", {{"url", *std::move(url)}}}});
    } else if (type == "input_text" || type == "output_text" || type == "text") {
      text += fields.Text("text").value_or("");
    } else if (type == "refusal") {
      text += fields.Text("refusal").value_or("");
    } else {
      throw ApiError{.message = "an item of input has a part that is neither a text nor an image",
                     .param = "input",
                     .code = "unsupported_parameter"};
    }
  }
  if (parts.empty()) return Dump(text);
  end_text();
  return Dump(parts);
}

// The texts of a list of parts; "": none.
std::string TextsOf(Fields& item, std::string_view name) {
  std::string texts;
  const auto list = item.Find(name);
  if (!list || !list->is_array()) return texts;
  for (const element part : list->get_array()) texts += Fields(part, item.NameOf(name)).Text("text").value_or("");
  return texts;
}

void AddMessage(Fields& item, Messages& messages) {
  const std::string role = item.Text("role").value_or("");
  if (role.empty()) ThrowWrong("input", "an item of input has no role");
  std::string content = ContentOf(item.Get("content"));
  if (role == "assistant") return messages.AddAnswer(std::move(content));
  messages.Add(role == "developer" ? "system" : role, content);  // the name in templates
}

void AddItem(element item, Messages& messages) {
  Fields fields(item, "input");
  const std::string type = fields.Text("type").value_or("message");
  const std::string call = fields.Text("call_id").value_or("");
  if (type == "message") {
    AddMessage(fields, messages);
  } else if (type == "function_call") {
    messages.AddCall(
        call, {{"name", fields.Text("name").value_or("")}, {"arguments", fields.Text("arguments").value_or("")}});
  } else if (type == "function_call_output") {
    messages.Add("tool", ContentOf(fields.Get("output")), call);
  } else if (type == "reasoning") {
    const std::string whole = TextsOf(fields, "content");
    messages.AddThought(whole.empty() ? TextsOf(fields, "summary") : whole);
  } else if (type == "item_reference") {
    throw ApiError{.message = "input cannot refer to stored items: nothing is stored",
                   .param = "input",
                   .code = "unsupported_parameter"};
  } else {
    LogLeftOut("items of input", type);
  }
}

void AddInput(element input, Messages& messages) {
  if (input.is_string()) return messages.Add("user", ToText(input));
  if (!input.is_array() || input.get_array().size() == 0)
    ThrowWrong("input", "input is neither a text nor a list of messages");
  for (const element item : input.get_array()) AddItem(item, messages);
}

}  // namespace

TextRequest ReadResponse(element body) {
  Fields fields(body);
  TextRequest request;
  request.model = fields.Text("model").value_or("");
  request.is_stream = fields.Flag("stream").value_or(false);
  ReadStreamFields(fields, request);
  Messages messages;
  if (const auto instructions = fields.Text("instructions")) messages.Add("system", Dump(*instructions));
  AddInput(fields.Get("input"), messages);
  request.prompts.texts = {messages.Take()};
  Options options;
  options.Add("chat", "true");
  ReadSampling(fields, options);
  constexpr std::string_view kMaxTokens[] = {"max_output_tokens"};
  ReadMostTokens(fields, kMaxTokens, options);
  ReadTextFormat(fields, options);
  ReadTools(fields, options);
  ReadThinking(fields, options);
  IgnoreMoot(fields);
  fields.Ignore({"stream_options", "truncation", "top_logprobs", "include", "max_tool_calls"});
  fields.Refuse({"previous_response_id", "conversation", "background", "prompt"});
  fields.CheckAllRead();
  TakeOptions(options, request);
  return request;
}

}  // namespace wasinn::serve::openai
