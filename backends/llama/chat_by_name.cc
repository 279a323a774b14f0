#include "llama/chat_by_name.h"

#include <fmt/format.h>

#include <vector>

#include "base/json.h"
#include "common/error.h"
#include "llama/model.h"

namespace wasinn::llama {

using backend::Error;

namespace {

struct Message {
  std::string role, content;
};

// A text, or a list of texts and markers of images, which get no line breaks around them. False: neither.
bool ReadContent(const nlohmann::json& json, std::string* content) {
  if (json.is_string()) *content = json.get<std::string>();
  if (!json.is_array()) return json.is_string();
  bool was_marker = false;
  for (const auto& part : json) {
    if (!part.is_object() || !part.contains("text") || !part["text"].is_string()) return false;
    const auto type = part.value("type", nlohmann::json());
    const bool is_marker = type == "media_marker";
    if (!is_marker && type != "text") return false;
    if (!content->empty() && !is_marker && !was_marker) *content += '\n';
    *content += part["text"].get<std::string>();
    was_marker = is_marker;
  }
  return true;
}

std::vector<Message> ParseMessages(std::string_view text) {
  const nlohmann::json json = base::ParseJson(text);
  bool good = json.is_array() && !json.empty();
  std::vector<Message> messages;
  for (size_t i = 0; good && i < json.size(); ++i) {
    const auto& message = json[i];
    good =
        message.is_object() && message.contains("role") && message["role"].is_string() && message.contains("content");
    if (!good) break;
    messages.push_back({.role = message["role"].get<std::string>(), .content = ""});
    good = ReadContent(message["content"], &messages.back().content);
  }
  if (!good) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
                R"(with "chat" the prompt is a JSON array of messages: [{"role": "user", "content": "…"}])");
  }
  return messages;
}

}  // namespace

std::string ChatByName(const Model& model, std::string_view messages, const std::string& text, bool answer_follows) {
  const LlamaLibrary& library = model.host().library();
  const std::vector<Message> parsed = ParseMessages(messages);
  std::vector<llama_chat_message> chat;
  chat.reserve(parsed.size());
  for (const Message& message : parsed) chat.push_back({message.role.c_str(), message.content.c_str()});
  std::string joined;
  for (int32_t size = 0;;) {
    const int32_t needed = library.chat_apply_template(text.c_str(), chat.data(), chat.size(), answer_follows,
                                                       size == 0 ? nullptr : joined.data(), size);
    if (needed < 0) {
      throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                  ChatSettings::IsJinja(text)
                      ? "chat: the model's chat template is unknown to llama.cpp; name one with chat-template"
                      : fmt::format("chat-template: '{}' is not one of llama.cpp's", text));
    }
    if (needed <= size) return joined.substr(0, static_cast<size_t>(needed));
    size = needed;
    joined.resize(static_cast<size_t>(size));
  }
}

}  // namespace wasinn::llama
