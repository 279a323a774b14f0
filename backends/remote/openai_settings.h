// The settings of a language model on a server with OpenAI's API, from the host's configuration and a guest's options.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/config.h"

namespace wasinn::remote {

// The keys of language models: those of the backend llama that such a server can follow.
std::span<const wasinn_key> LanguageKeys();

// Keys of the backend llama that no server follows: refused if they are true, or not empty.
inline constexpr const char* kRefusedFlags[] = {"decode",        "tokenize", "detokenize",         "rerank",
                                                "context-shift", "tts",      "post-sampling-probs"};
inline constexpr const char* kRefusedTexts[] = {"save-state", "restore-state", "erase-state", "chat-template"};

// The kind of request; a field can belong to several.
enum Api : uint32_t { kChat = 1, kCompletions = 2, kEmbeddings = 4 };

class LanguageSettings {
 public:
  // Applies `config` over these settings. Throws WASINN_ERROR_INVALID_ARGUMENT that names a key and its values, and
  // WASINN_ERROR_UNSUPPORTED_OPERATION for requests that no server can follow.
  void Apply(const backend::Config& config);
  // Applies keys of the host only: the API, and the server's name for the token limit.
  void ApplyHost(const backend::Config& config);

  Api api() const;
  // With kChat: the prompt is a list of messages. Otherwise it is a text, which becomes a message.
  bool has_messages() const { return chat_; }
  // The prompt is a list of tokens, or of texts.
  bool has_list() const { return tokens_ || (texts_ && api() == kEmbeddings); }
  // Fields of the body, each after a comma.
  std::string Fields() const;

 private:
  struct Field {
    uint32_t where;
    std::string json;
  };

  void Set(uint32_t where, const char* field, std::string value) { fields_[field] = {where, std::move(value)}; }
  void SetNumbers(const backend::Config& config);
  void SetTexts(const backend::Config& config);
  void SetChat(const backend::Config& config);
  void SetTemplate(const backend::Config& config);

  uint32_t only_ = kChat | kCompletions | kEmbeddings;  // the APIs of the server
  std::string most_tokens_ = "max_tokens";
  bool chat_ = false, embedding_ = false, texts_ = false, tokens_ = false;
  std::map<std::string, Field> fields_;
  std::optional<int64_t> predict_, probabilities_;
  std::optional<bool> thinks_;
  std::string json_schema_, template_arguments_;  // empty: none
};

// Unknown keys of `config`: only a few, and shortened.
std::vector<std::string> UnknownKeys(const backend::Config& config);

}  // namespace wasinn::remote
