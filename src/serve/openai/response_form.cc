#include "serve/openai/response_form.h"

#include <fmt/format.h>

#include <utility>

namespace wasinn::serve::openai {

using nlohmann::json;

std::string ResponseForm::Tell(const char* type, json data) {
  data["type"] = type;
  data["sequence_number"] = n_told_++;
  return fmt::format("event: {}\n{}", type, Event(data));
}

std::string ResponseForm::TellOfPart(const char* type, json data) {
  data["item_id"] = message_id_;
  data["output_index"] = data["content_index"] = 0;
  return Tell(type, std::move(data));
}

json ResponseForm::Part() const {
  return {{"type", "output_text"}, {"text", text_}, {"annotations", json::array()}, {"logprobs", json::array()}};
}

json ResponseForm::Message(const char* status, json content) const {
  return {{"type", "message"},
          {"id", message_id_},
          {"status", status},
          {"role", "assistant"},
          {"content", std::move(content)}};
}

json ResponseForm::Self(const char* status) const {
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

json ResponseForm::Ended(const Ending& ending) const {
  const bool is_cut = ending.reason == "length";
  json self = Self(is_cut ? "incomplete" : "completed");
  if (is_cut) self["incomplete_details"] = {{"reason", "max_output_tokens"}};
  self["output"].push_back(Message(is_cut ? "incomplete" : "completed", json::array({Part()})));
  self["usage"] = {{"input_tokens", ending.prompt_tokens},
                   {"input_tokens_details", {{"cached_tokens", ending.cached_tokens}}},
                   {"output_tokens", ending.completion_tokens},
                   {"output_tokens_details", {{"reasoning_tokens", 0}}},
                   {"total_tokens", ending.prompt_tokens + ending.completion_tokens}};
  return self;
}

Outcome<std::string> ResponseForm::Begin(Completion& /*completion*/) {
  const json self = Self("in_progress");
  return Tell("response.created", {{"response", self}}) + Tell("response.in_progress", {{"response", self}}) +
         Tell("response.output_item.added", {{"output_index", 0}, {"item", Message("in_progress", json::array())}}) +
         TellOfPart("response.content_part.added", {{"part", Part()}});
}

Outcome<std::string> ResponseForm::Add(Completion& completion, const std::string& /*piece*/, const Ending* so_far) {
  const auto message = ReadOutput(completion, "message");
  if (!message) return std::unexpected(message.error());
  const std::string fresh = changes_.New(*message).value("content", "");
  if (fresh.empty()) return "";
  text_ += fresh;
  json delta = {{"delta", fresh}, {"logprobs", json::array()}};
  if (so_far != nullptr) delta["timings"] = TimingsOf(*so_far);
  return TellOfPart("response.output_text.delta", std::move(delta));
}

std::string ResponseForm::TellProgress(const json& progress) {
  return Tell("response.in_progress", {{"response", Self("in_progress")}, {"prompt_progress", progress}});
}

Outcome<std::string> ResponseForm::EndChoice(Completion& completion, const Ending& /*ending*/) {
  return Add(completion, "", nullptr);
}

std::string ResponseForm::End(const Ending& all) {
  const json ended = Ended(all);
  std::string events = TellOfPart("response.output_text.done", {{"text", text_}, {"logprobs", json::array()}});
  events += TellOfPart("response.content_part.done", {{"part", Part()}});
  events += Tell("response.output_item.done", {{"output_index", 0}, {"item", ended["output"][0]}});
  return events + Tell(all.reason == "length" ? "response.incomplete" : "response.completed",
                       {{"response", ended}, {"timings", TimingsOf(all)}});
}

std::string ResponseForm::Fail(const ApiError& error) {
  json self = Self("failed");
  self["error"] = {{"code", "server_error"}, {"message", error.message}};
  return Tell("response.failed", {{"response", std::move(self)}});
}

Outcome<size_t> ResponseForm::KeepChoice(Completion& completion, const Ending& /*ending*/) {
  const auto message = ReadOutput(completion, "message");
  if (!message) return std::unexpected(message.error());
  text_ = changes_.New(*message).value("content", "");
  return text_.size();
}

std::string ResponseForm::Whole(const Ending& all) {
  json whole = Ended(all);
  whole["timings"] = TimingsOf(all);
  return Dump(whole);
}

}  // namespace wasinn::serve::openai
