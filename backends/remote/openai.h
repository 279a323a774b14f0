// Language models on servers with OpenAI's API: their settings, from the host's configuration and a guest's options;
// their prompts; their answers.
#pragma once

#include <wasinn/backend.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// Ignores case.
bool EndsInName(std::string_view text, std::string_view end);

// Whether a JSON schema, or an object with schemas, refers outside of it: a server might fetch that. True if not JSON.
bool RefersElsewhere(std::string_view text);

// These functions throw WASINN_ERROR_INVALID_ARGUMENT for prompts that a server must not get. They build no document.

// OpenAI's messages. Files must be data: URLs: the server would fetch others, which a guest names.
void CheckMessages(std::string_view text);
// A list of texts and numbers, or of lists of them.
void CheckList(std::string_view text);
// Not empty, and UTF-8.
void CheckText(std::string_view text);

// The outputs of the backend llama. The server is untrusted.
struct LanguageAnswer {
  std::string completion, metadata;
  std::string message, probabilities;  // empty: not in the answer
  size_t texts = 0;                    // number of embeddings
  std::vector<float> embeddings;       // consecutive
};

// Throws WASINN_ERROR_RUNTIME if invalid. Uses at most JsonMemory and ProbabilitiesMemory in addition to its result.
LanguageAnswer ReadLanguageAnswer(std::string_view text);

// An upper limit of the memory of this text's nlohmann::json, with a few copies of its texts.
uint64_t JsonMemory(std::string_view text);

// The memory for probabilities, which exceeds that of their JSON; 0: the answer has none.
uint64_t ProbabilitiesMemory(std::string_view text);

// The names of the models that a server lists; empty: it has no list. Throws WASINN_ERROR_RUNTIME if invalid.
std::optional<std::vector<std::string>> ReadModels(std::string_view text);

// Whether an error says that the prompt is longer than the model's context.
bool SaysTooLong(std::string_view text);

}  // namespace wasinn::remote
