// What the host's configuration and a guest's options ask of a language model at a server of OpenAI's API.
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

// Keys of language models, which are those of the backend llama as far as a server can do what they ask for.
std::span<const wasinn_key> LanguageKeys();

// Of the backend llama's keys, what no server does: if they are true, and if they say anything.
inline constexpr const char* kRefusedFlags[] = {"decode",        "tokenize", "detokenize",         "rerank",
                                                "context-shift", "tts",      "post-sampling-probs"};
inline constexpr const char* kRefusedTexts[] = {"save-state", "restore-state", "erase-state", "chat-template"};

// What is asked for, and which requests a field belongs to.
enum Api : uint32_t { kChat = 1, kCompletions = 2, kEmbeddings = 4 };

class LanguageSettings {
 public:
  // What `config` says on top of these. Throws WASINN_ERROR_INVALID_ARGUMENT that names a key and what it may be, and
  // WASINN_ERROR_UNSUPPORTED_OPERATION for what no server can do.
  void Apply(const backend::Config& config);
  // The host's alone: which API, and by which name the server knows the most tokens.
  void ApplyHost(const backend::Config& config);

  Api api() const;
  // With kChat: the prompt is a list of messages. Else it is a text, which becomes one.
  bool has_messages() const { return chat_; }
  // The prompt is a list of tokens, or of texts.
  bool has_list() const { return tokens_ || (texts_ && api() == kEmbeddings); }
  // Fields of the body, each with a comma before it.
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

  uint32_t only_ = kChat | kCompletions | kEmbeddings;  // what the server has
  std::string most_tokens_ = "max_tokens";
  bool chat_ = false, embedding_ = false, texts_ = false, tokens_ = false;
  std::map<std::string, Field> fields_;
  std::optional<int64_t> predict_, probabilities_;
  std::optional<bool> thinks_;
  std::string json_schema_, template_arguments_;  // empty: none
};

// Keys of `config` that nobody knows; no more than a few, and of each no more than can be shown.
std::vector<std::string> UnknownKeys(const backend::Config& config);

}  // namespace wasinn::remote
