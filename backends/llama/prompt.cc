#include "llama/prompt.h"

#include <fmt/format.h>

#include <climits>

#include "common/error.h"
#include "common/json.h"
#include "common/large_stack.h"
#include "llama/model.h"
#include "llama/text.h"

namespace wasinn::llama {

using backend::Error;

namespace {

// Tokenizers of some models use std::regex, which calls itself for each character.
constexpr size_t kLongText = 512, kStackPerByte = 1024, kLeastStack = 8 << 20;

struct Message {
  std::string role, content;
};

std::vector<Message> ParseMessages(std::string_view text) {
  const nlohmann::json json = backend::ParseJson(text);
  bool good = json.is_array() && !json.empty();
  std::vector<Message> messages;
  for (size_t i = 0; good && i < json.size(); ++i) {
    const auto& message = json[i];
    good = message.is_object() && message.contains("role") && message["role"].is_string() &&
           message.contains("content") && message["content"].is_string();
    if (good) messages.push_back({message["role"].get<std::string>(), message["content"].get<std::string>()});
  }
  if (!good) {
    throw Error(WASINN_INVALID_ARGUMENT,
                R"(with "chat" the prompt is a JSON array of messages: [{"role": "user", "content": "…"}])");
  }
  return messages;
}

std::string ApplyTemplate(const Model& model, const std::vector<Message>& messages, const std::string& name) {
  const LlamaLibrary& library = model.host().library();
  const char* text = name.empty() ? library.model_chat_template(model.get(), nullptr) : name.c_str();
  if (text == nullptr) {
    throw Error(WASINN_UNSUPPORTED_OPERATION, "chat: the model has no chat template; name one with chat-template");
  }
  std::vector<llama_chat_message> chat;
  chat.reserve(messages.size());
  for (const Message& message : messages) chat.push_back({message.role.c_str(), message.content.c_str()});
  constexpr bool kAnswerFollows = true;
  std::string joined;
  for (int32_t size = 0;;) {
    const int32_t needed = library.chat_apply_template(text, chat.data(), chat.size(), kAnswerFollows,
                                                       size == 0 ? nullptr : joined.data(), size);
    if (needed < 0) {
      throw Error(WASINN_UNSUPPORTED_OPERATION,
                  name.empty()
                      ? "chat: the model's chat template is none that llama.cpp knows; name one with chat-template"
                      : fmt::format("chat-template: '{}' is none of llama.cpp's", name));
    }
    if (needed <= size) return joined.substr(0, static_cast<size_t>(needed));
    size = needed;
    joined.resize(static_cast<size_t>(size));
  }
}

[[noreturn]] void RefuseLength(const std::string& what, size_t capacity) {
  throw Error(WASINN_PROMPT_TOO_LONG, fmt::format("the prompt has {}: the context has {}", what, capacity));
}

std::vector<llama_token> TokenizeText(const Model& model, const std::string& text) {
  const LlamaLibrary& library = model.host().library();
  constexpr bool kSpecial = true;
  std::vector<llama_token> tokens(text.size() + 8);
  const auto tokenize = [&] {
    return library.tokenize(model.vocabulary(), text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                            static_cast<int32_t>(tokens.size()), kSpecial, kSpecial);
  };
  int32_t n = tokenize();
  if (n < 0 && n != INT32_MIN) {
    tokens.resize(static_cast<size_t>(-n));
    n = tokenize();
  }
  if (n < 0) throw Error(WASINN_RUNTIME_ERROR, "llama.cpp cannot make tokens of the prompt");
  tokens.resize(static_cast<size_t>(n));
  return tokens;
}

}  // namespace

std::vector<llama_token> Tokenize(const Model& model, std::string_view prompt, const Settings& settings,
                                  size_t capacity) {
  if (prompt.empty()) throw Error(WASINN_INVALID_ARGUMENT, "the prompt is empty");
  // No token is longer: these need not be made.
  const size_t longest = std::max<size_t>(model.scan().longest_token, 1);
  if (prompt.size() / longest > capacity || prompt.size() > INT32_MAX / 2) {
    RefuseLength(fmt::format("{} bytes, and no token has more than {} of them", prompt.size(), longest), capacity);
  }
  if (const size_t at = FindInvalidUtf8(prompt); at != std::string_view::npos) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("the prompt is no UTF-8 at byte {}", at));
  }
  std::string text(prompt);
  if (settings.chat) text = ApplyTemplate(model, ParseMessages(prompt), settings.chat_template);
  std::vector<llama_token> tokens;
  if (text.size() > kLongText) {
    backend::RunOnLargeStack(kLeastStack + text.size() * kStackPerByte, [&] { tokens = TokenizeText(model, text); });
  } else {
    tokens = TokenizeText(model, text);
  }
  if (tokens.empty()) throw Error(WASINN_INVALID_ARGUMENT, "the prompt has no tokens");
  if (tokens.size() > capacity) RefuseLength(fmt::format("{} tokens", tokens.size()), capacity);
  return tokens;
}

std::string PieceOf(const Model& model, llama_token token) {
  const LlamaLibrary& library = model.host().library();
  constexpr bool kSpecial = false;
  std::string piece(32, '\0');
  for (;;) {
    const int32_t n = library.token_to_piece(model.vocabulary(), token, piece.data(),
                                             static_cast<int32_t>(piece.size()), 0, kSpecial);
    if (n >= 0) {
      piece.resize(static_cast<size_t>(n));
      return piece;
    }
    piece.resize(static_cast<size_t>(-n));
  }
}

}  // namespace wasinn::llama
