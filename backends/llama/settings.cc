#include "llama/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <string_view>

#include "common/error.h"
#include "llama/text.h"

namespace wasinn::llama {

using backend::Config;
using backend::Error;

namespace {

constexpr size_t kLongestGrammar = 64 << 10, kDeepestSchema = 32;
constexpr size_t kMostStopWords = 32, kLongestStopWord = 256;
constexpr int64_t kMostThreads = 1024, kMostTokens = 1 << 24;

template <typename T>
void SetNumber(const Config& config, const char* key, double least, double most, T* value) {
  if (const auto number = config.Number(key, least, most)) *value = *number;
}

template <typename T>
void SetInteger(const Config& config, const char* key, int64_t least, int64_t most, T* value) {
  if (const auto number = config.Integer(key, least, most)) *value = static_cast<T>(*number);
}

void SetBool(const Config& config, const char* key, bool* value) { *value = config.Bool(key).value_or(*value); }

void SetText(const Config& config, const char* key, std::string* value) {
  auto text = config.String(key);
  if (!text) return;
  if (text->size() > kLongestGrammar || text->find('\0') != std::string::npos) {
    throw Error(WASINN_INVALID_ARGUMENT,
                fmt::format("{}: expected text of at most {} bytes, found {}", key, kLongestGrammar, text->size()));
  }
  *value = *std::move(text);
}

void SetStopWords(const Config& config, std::vector<std::string>* words) {
  auto list = config.StringList("reverse-prompt");
  if (!list) return;
  std::erase(*list, "");
  if (list->size() > kMostStopWords ||
      std::ranges::any_of(*list, [](const std::string& word) { return word.size() > kLongestStopWord; })) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("reverse-prompt: expected at most {} strings of at most {} bytes",
                                                     kMostStopWords, kLongestStopWord));
  }
  *words = *std::move(list);
}

void SetLora(const Config& config, const std::map<std::string, std::string>& loras, std::string* name) {
  const auto wanted = config.String("lora");
  if (!wanted) return;
  if (!wanted->empty() && !loras.contains(*wanted)) {
    throw Error(WASINN_INVALID_ARGUMENT,
                fmt::format("lora: '{}' is none of the model's loras in the host's configuration", *wanted));
  }
  *name = *wanted;
}

}  // namespace

void Settings::Apply(const Config& config, const SettingsLimits& limits,
                     const std::map<std::string, std::string>& loras) {
  // Programs ask for what was right on another machine, or for another model: they get what there is.
  const auto set_up_to = [&config](const char* key, int64_t least, int64_t most, int64_t limit, auto* value) {
    const auto n = config.Integer(key, least, most);
    if (n && *n > 0) *value = static_cast<std::decay_t<decltype(*value)>>(std::min(*n, limit));
  };
  // 0: what it would be without the key.
  set_up_to("ctx-size", 0, kMostTokens, limits.context, &context);
  set_up_to("batch-size", 1, kMostTokens, limits.batch, &batch);
  set_up_to("ubatch-size", 1, kMostTokens, limits.micro_batch, &micro_batch);
  set_up_to("threads", 1, kMostThreads, limits.threads, &threads);
  SetBool(config, "embedding", &embedding);
  SetLora(config, loras, &lora);
  SetNumber(config, "lora-scale", -100, 100, &lora_scale);
  SetInteger(config, "n-predict", -1, INT32_MAX, &predict);
  SetInteger(config, "top-k", 0, INT32_MAX, &top_k);
  SetNumber(config, "temp", 0, 1000, &temperature);
  SetNumber(config, "top-p", 0, 1, &top_p);
  SetNumber(config, "min-p", 0, 1, &min_p);
  SetNumber(config, "typical-p", 0, 1, &typical_p);
  SetNumber(config, "repeat-penalty", 0.001, 1000, &repeat_penalty);
  SetNumber(config, "presence-penalty", -1000, 1000, &presence_penalty);
  SetNumber(config, "frequency-penalty", -1000, 1000, &frequency_penalty);
  SetInteger(config, "seed", -1, UINT32_MAX, &seed);
  if (!limits.grammars && (config.String("grammar") || config.JsonText("json-schema", kDeepestSchema))) {
    throw Error(WASINN_SECURITY, "the host does not let guests bring grammars (guest_grammars)");
  }
  SetText(config, "grammar", &grammar);
  if (const auto schema = config.JsonText("json-schema", kDeepestSchema)) {
    if (schema->size() > kLongestGrammar) {
      throw Error(WASINN_INVALID_ARGUMENT, fmt::format("json-schema: expected at most {} bytes", kLongestGrammar));
    }
    json_schema = *schema;
  }
  SetStopWords(config, &stop_words);
  SetBool(config, "chat", &chat);
  SetText(config, "chat-template", &chat_template);
  SetBool(config, "cache-prompt", &cache_prompt);
  SetBool(config, "enable-log", &log);
}

bool Settings::SameContext(const Settings& other) const {
  return context == other.context && batch == other.batch && micro_batch == other.micro_batch &&
         threads == other.threads && embedding == other.embedding && lora == other.lora &&
         lora_scale == other.lora_scale;
}

bool IsSettingsKey(const std::string& key) {
  static constexpr std::string_view kKnown[] = {"ctx-size",
                                                "batch-size",
                                                "ubatch-size",
                                                "threads",
                                                "embedding",
                                                "lora",
                                                "lora-scale",
                                                "n-predict",
                                                "top-k",
                                                "temp",
                                                "top-p",
                                                "min-p",
                                                "typical-p",
                                                "repeat-penalty",
                                                "presence-penalty",
                                                "seed",
                                                "grammar",
                                                "json-schema",
                                                "reverse-prompt",
                                                "frequency-penalty",
                                                "chat",
                                                "chat-template",
                                                "cache-prompt",
                                                "enable-log",
                                                "stream-stdout",
                                                "n-gpu-layers",
                                                "mmproj",
                                                "image",
                                                "tts"};
  return std::ranges::find(kKnown, key) != std::end(kKnown);
}

}  // namespace wasinn::llama
