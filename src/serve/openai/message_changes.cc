#include "serve/openai/message_changes.h"

#include <string_view>
#include <utility>

namespace wasinn::serve::openai {

using nlohmann::json;

void MessageChanges::AddText(const json& from, const char* field, json& sent, json& delta) {
  const auto now = from.find(field);
  if (now == from.end() || !now->is_string()) return;
  const std::string& text = now->get_ref<const std::string&>();
  json& last = sent[field];
  if (!last.is_string()) last = "";
  std::string& known = last.get_ref<std::string&>();
  if (text.size() <= known.size() || !text.starts_with(known)) return;
  delta[field] = text.substr(known.size());
  known = text;
}

void MessageChanges::AddCalls(const json& calls, json& delta) {
  json& sent = sent_["tool_calls"];
  if (!sent.is_array()) sent = json::array();
  for (size_t i = 0; i < calls.size(); ++i) {
    const json& call = calls[i];
    const json function = call.value("function", json::object());
    json change = json::object();
    if (i == sent.size()) {
      change = {{"index", i}, {"id", call.value("id", "")}, {"type", "function"}, {"function", function}};
      sent.push_back(function);
    } else {
      json more = json::object();
      AddText(function, "arguments", sent[i], more);
      if (!more.empty()) change = {{"index", i}, {"function", std::move(more)}};
    }
    if (!change.empty()) delta["tool_calls"].push_back(std::move(change));
  }
}

json MessageChanges::New(const json& message) {
  json delta = json::object();
  if (!message.is_object()) return delta;
  AddText(message, "reasoning_content", sent_, delta);
  AddText(message, "content", sent_, delta);
  if (const auto calls = message.find("tool_calls"); calls != message.end() && calls->is_array()) {
    AddCalls(*calls, delta);
  }
  return delta;
}

}  // namespace wasinn::serve::openai
