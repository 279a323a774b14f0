#include "serve/openai/text_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/openai/text_request.h"

namespace wasinn::serve::openai {

using nlohmann::json;

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
