// /v1/responses: how a request is read, and its answer.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/openai/text_form.h"
#include "serve/openai/text_request.h"

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

namespace {

constexpr std::string_view kMessage = "message", kReasoning = "reasoning", kCall = "function_call";

json NewPart(bool is_message) {
  if (!is_message) return {{"type", "reasoning_text"}, {"text", ""}};
  return {{"type", "output_text"}, {"text", ""}, {"annotations", json::array()}, {"logprobs", json::array()}};
}

json NewItem(std::string_view type, const json& call) {
  json item = {{"type", type}, {"status", "in_progress"}};
  if (type == kCall) {
    item["id"] = NewId("fc_");
    item["call_id"] = call.value("id", "");
    item["name"] = call.value("/function/name"_json_pointer, "");
    item["arguments"] = "";
    return item;
  }
  item["content"] = json::array();
  if (type == kMessage) {
    item["id"] = NewId("msg_");
    item["role"] = "assistant";
  } else {
    item["id"] = NewId("rs_");
    item["summary"] = json::array();
  }
  return item;
}

// The part of an item that grows.
std::string& TextOf(json& item) {
  json& text = item["type"] == kCall ? item["arguments"] : item["content"][0]["text"];
  return text.get_ref<std::string&>();
}

// The answer to /v1/responses: one text, whose items are the model's thoughts, message and calls.
class ResponseForm final : public TextForm {
 public:
  explicit ResponseForm(const TextRequest& request) : model_(request.model) {}

  std::string Begin(Completion& /*completion*/) override {
    const json self = Self("in_progress");
    std::string events = Emit("response.created", {{"response", self}});
    return events += Emit("response.in_progress", {{"response", self}});
  }
  std::string Add(Completion& completion, const std::string& /*piece*/, const Ending* so_far) override {
    return Grow(ReadOutput(completion, "message"), so_far);
  }
  std::string ReportProgress(const json& progress) override {
    return Emit("response.in_progress", {{"response", Self("in_progress")}, {"prompt_progress", progress}});
  }
  std::string EndChoice(Completion& completion, const Ending& /*ending*/) override {
    return Add(completion, "", nullptr);
  }
  std::string End(const Ending& all) override {
    const std::string events = EndItems(all);
    return events + Emit(all.reason == "length" ? "response.incomplete" : "response.completed",
                         {{"response", Ended(all)}, {"timings", TimingsOf(all)}});
  }
  std::string Fail(const ApiError& error) override {
    json self = Self("failed");
    self["error"] = {{"code", "server_error"}, {"message", error.message}};
    return Emit("response.failed", {{"response", std::move(self)}});
  }
  size_t KeepChoice(Completion& completion, const Ending& /*ending*/) override {
    return Grow(ReadOutput(completion, "message"), nullptr).size();
  }
  std::string Whole(const Ending& all) override {
    (void)EndItems(all);
    json whole = Ended(all);
    whole["timings"] = TimingsOf(all);
    return Dump(whole);
  }

 private:
  std::string Emit(const char* type, json data) {
    data["type"] = type;
    data["sequence_number"] = n_events_++;
    return fmt::format("event: {}\n{}", type, Event(data));
  }
  // An event about an item, or its only part.
  std::string EmitFor(size_t item, const char* type, json data) {
    data["item_id"] = items_[item]["id"];
    data["output_index"] = item;
    if (items_[item]["type"] != kCall) data["content_index"] = 0;
    return Emit(type, std::move(data));
  }
  // Adds the message's changes to the items, and returns events for them.
  std::string Grow(const json& message, const Ending* so_far) {
    std::string events;
    const auto add = [&](std::string_view type, const char* event, const std::string& text, const json& call = {}) {
      const size_t item = ItemOf(type, events, call);
      if (text.empty()) return;
      TextOf(items_[item]) += text;
      json delta = {{"delta", text}};
      if (type == kMessage) delta["logprobs"] = json::array();
      if (so_far != nullptr) delta["timings"] = TimingsOf(*so_far);
      events += EmitFor(item, event, std::move(delta));
    };
    const json fresh = changes_.New(message);
    const std::string thought = fresh.value("reasoning_content", ""), said = fresh.value("content", "");
    if (!thought.empty()) add(kReasoning, "response.reasoning_text.delta", thought);
    if (!said.empty()) add(kMessage, "response.output_text.delta", said);
    for (const json& call : fresh.value("tool_calls", json::array())) {
      add(kCall, "response.function_call_arguments.delta", call.value("/function/arguments"_json_pointer, ""), call);
    }
    return events;
  }
  // Finds the item of a type, or begins one. `call`: a call of a chat's delta, with its index.
  size_t ItemOf(std::string_view type, std::string& events, const json& call = {}) {
    const size_t place = type == kCall ? call.value("index", size_t{0}) : 0;
    size_t at = 0, before = 0;
    for (; at < items_.size(); ++at) {
      if (items_[at]["type"] == type && before++ == place) return at;
    }
    items_.push_back(NewItem(type, call));
    events += Emit("response.output_item.added", {{"output_index", at}, {"item", items_[at]}});
    if (type == kCall) return at;
    json part = NewPart(type == kMessage);
    events += EmitFor(at, "response.content_part.added", {{"part", part}});
    items_[at]["content"].push_back(std::move(part));
    return at;
  }
  // Events that end all items.
  std::string EndItems(const Ending& all) {
    std::string events;
    if (items_.empty()) (void)ItemOf(kMessage, events);
    for (size_t i = 0; i < items_.size(); ++i) {
      json& item = items_[i];
      item["status"] = all.reason == "length" && i + 1 == items_.size() ? "incomplete" : "completed";
      if (item["type"] == kCall) {
        events += EmitFor(i, "response.function_call_arguments.done",
                          {{"name", item["name"]}, {"arguments", item["arguments"]}});
      } else if (item["type"] == kMessage) {
        events += EmitFor(i, "response.output_text.done", {{"text", TextOf(item)}, {"logprobs", json::array()}});
      } else {
        events += EmitFor(i, "response.reasoning_text.done", {{"text", TextOf(item)}});
      }
      if (item["type"] != kCall) events += EmitFor(i, "response.content_part.done", {{"part", item["content"][0]}});
      events += Emit("response.output_item.done", {{"output_index", i}, {"item", item}});
    }
    return events;
  }
  json Self(const char* status) const {
    return {{"id", id_},
            {"object", "response"},
            {"created_at", created_},
            {"status", status},
            {"model", model_},
            {"output", json::array()},
            {"error", nullptr},
            {"incomplete_details", nullptr},
            {"instructions", nullptr},
            {"metadata", json::object()},
            {"parallel_tool_calls", true},
            {"tool_choice", "auto"},
            {"tools", json::array()},
            {"temperature", nullptr},
            {"top_p", nullptr},
            {"usage", nullptr}};
  }
  json Ended(const Ending& ending) const {
    const bool is_cut = ending.reason == "length";
    json self = Self(is_cut ? "incomplete" : "completed");
    if (is_cut) self["incomplete_details"] = {{"reason", "max_output_tokens"}};
    self["output"] = items_;
    self["usage"] = {{"input_tokens", ending.prompt_tokens},
                     {"input_tokens_details", {{"cached_tokens", ending.cached_tokens}}},
                     {"output_tokens", ending.completion_tokens},
                     {"output_tokens_details", {{"reasoning_tokens", 0}}},
                     {"total_tokens", ending.prompt_tokens + ending.completion_tokens}};
    return self;
  }

  const std::string id_ = NewId("resp_"), model_;
  const int64_t created_ = UnixTime();
  uint64_t n_events_ = 0;
  MessageChanges changes_;
  std::vector<json> items_;  // as in the answer's output
};

}  // namespace

std::unique_ptr<TextForm> NewResponseForm(const TextRequest& request) {
  return std::make_unique<ResponseForm>(request);
}

}  // namespace wasinn::serve::openai
