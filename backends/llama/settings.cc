#include "llama/settings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <string_view>

#include "base/json.h"
#include "common/throw.h"
#include "llama/held_schema.h"
#include "llama/set_values.h"
#include "llama/text.h"

namespace wasinn::llama {

using backend::Config;
using backend::Throw;

namespace {

constexpr size_t kLongestGrammar = 64 << 10, kDeepestJson = 32;
constexpr size_t kMaxStopWords = 32, kLongestStopWord = 256;
constexpr int64_t kMaxThreads = 1024, kMaxTokens = 1 << 24, kMaxNorm = 1000;

void SetText(const Config& config, const char* key, std::string* value) {
  auto text = config.String(key);
  if (!text) return;
  if (text->size() > kLongestGrammar || text->find('\0') != std::string::npos) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: expected text of at most {} bytes, found {}", key, kLongestGrammar,
          text->size());
  }
  *value = *std::move(text);
}

// Returns whether the value is set and not empty.
bool SetJson(const Config& config, const char* key, std::string* value) {
  auto json = config.JsonText(key, kDeepestJson);
  if (!json) return false;
  if (json->size() > kLongestGrammar) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: expected at most {} bytes", key, kLongestGrammar);
  }
  *value = *json == "null" ? "" : *std::move(json);
  return !value->empty();
}

[[noreturn]] void RefuseGrammars() {
  Throw(WASINN_ERROR_SECURITY, "the host does not allow guests' grammars (guest_grammars)");
}

void SetStopWords(const Config& config, std::vector<std::string>* words) {
  auto list = config.StringList("reverse-prompt");
  if (!list) return;
  std::erase(*list, "");
  if (list->size() > kMaxStopWords ||
      std::ranges::any_of(*list, [](const std::string& word) { return word.size() > kLongestStopWord; })) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "reverse-prompt: expected at most {} strings of at most {} bytes",
          kMaxStopWords, kLongestStopWord);
  }
  *words = *std::move(list);
}

// A token that the model does not have never comes.
void SetStopTokens(const Config& config, std::vector<int32_t>* tokens) {
  constexpr const char* kKey = "stop-tokens";
  constexpr size_t kDepth = 1, kMax = 256;
  const auto text = config.JsonText(kKey, kDepth);
  if (!text) return;
  const auto list = base::ParseJson(*text);
  const auto is_token = [](const auto& one) { return one.is_number_integer() && one >= 0 && one <= INT32_MAX; };
  if (!list.is_array() || list.size() > kMax || !std::ranges::all_of(list, is_token)) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: expected a list of at most {} tokens' numbers", kKey, kMax);
  }
  *tokens = list.get<std::vector<int32_t>>();
}

}  // namespace

void Settings::Apply(const Config& config, const SettingsLimits& limits,
                     const std::map<std::string, std::string>& loras) {
  // Programs ask for values that fit other machines or models: these are reduced to the limits.
  const auto set_up_to = [&config](const char* key, int64_t least, int64_t most, int64_t limit, auto* value) {
    const auto n = config.Integer(key, least, most);
    if (n && *n > 0) *value = static_cast<std::decay_t<decltype(*value)>>(std::min(*n, limit));
  };
  // 0: as without the key.
  set_up_to("ctx-size", 0, kMaxTokens, limits.context, &context);
  set_up_to("batch-size", 1, kMaxTokens, limits.batch, &batch);
  set_up_to("ubatch-size", 1, kMaxTokens, limits.micro_batch, &micro_batch);
  set_up_to("threads", 1, kMaxThreads, limits.threads, &threads);
  SetBool(config, "embedding", &embedding);
  cache.Apply(config);
  adapters.Apply(config, loras);
  SetInteger(config, "n-predict", -1, INT32_MAX, &predict);
  SetInteger(config, "top-k", 0, INT32_MAX, &top_k);
  SetNumber(config, "temp", 0, 1000, &temperature);
  SetNumber(config, "top-p", 0, 1, &top_p);
  SetNumber(config, "min-p", 0, 1, &min_p);
  SetNumber(config, "typical-p", 0, 1, &typical_p);
  SetNumber(config, "repeat-penalty", 0.001, 1000, &repeat_penalty);
  SetInteger(config, "repeat-last-n", -1, kMaxTokens, &repeat_tokens);
  SetNumber(config, "presence-penalty", -1000, 1000, &presence_penalty);
  SetNumber(config, "frequency-penalty", -1000, 1000, &frequency_penalty);
  SetInteger(config, "seed", -1, UINT32_MAX, &seed);
  sampling.Apply(config);
  if (!limits.grammars && (config.String("grammar") || config.JsonText("json-schema", kDeepestJson))) RefuseGrammars();
  SetText(config, "grammar", &grammar);
  if (SetJson(config, "json-schema", &json_schema)) json_schema = HeldSchema("json-schema", json_schema);
  SetStopWords(config, &stop_words);
  SetStopTokens(config, &stop_tokens);
  SetBool(config, "chat", &chat);
  of_chat.Apply(config, limits);
  SetTask(config);
  SetBool(config, "cache-prompt", &cache_prompt);
  SetBool(config, "prompt-steps", &prompt_steps);
  SetBool(config, "stream-stdout", &stream_stdout);
  SetBool(config, "context-shift", &shift);
  SetInteger(config, "keep", -1, kMaxTokens, &keep);
  state.Apply(config);
  SetBool(config, "enable-log", &log);
}

void Settings::SetTask(const Config& config) {
  SetBool(config, "tokens", &tokens);
  SetBool(config, "add-special", &add_special);
  SetBool(config, "report", &report);
  SetBool(config, "tokenize", &tokenize);
  SetBool(config, "detokenize", &detokenize);
  SetBool(config, "with-pieces", &with_pieces);
  SetBool(config, "texts", &texts);
  SetBool(config, "rerank", &rerank);
  SetInteger(config, "embd-normalize", -1, kMaxNorm, &normalize);
  decode.Apply(config);
  embedding = embedding || rerank;
  if ((tokenize ? 1 : 0) + (detokenize ? 1 : 0) + (embedding ? 1 : 0) + (decode.on ? 1 : 0) > 1) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT,
          "tokenize, detokenize, embedding, rerank, decode: expected at most one of them");
  }
  if (tokens && (chat || texts || rerank)) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "tokens: cannot be combined with chat, texts or rerank");
  }
  if ((texts || rerank) && (!embedding || chat || (texts && rerank))) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "texts, rerank: expected one of them, without chat; texts needs embedding");
  }
}

void ChatSettings::Apply(const Config& config, const SettingsLimits& limits) {
  std::string given = template_text;
  SetText(config, "chat-template", &given);
  if (given != template_text && IsJinja(given) && !limits.templates) {
    Throw(WASINN_ERROR_SECURITY, "chat-template: only the host can set the text of a template: expected a name");
  }
  template_text = std::move(given);
  if (SetJson(config, "tools", &tools)) tools = HeldTools(tools);
  // Their arguments are a grammar.
  if (!tools.empty() && !limits.grammars) RefuseGrammars();
  if (auto choice = config.ValueText("tool-choice", kDeepestJson)) tool_choice = *std::move(choice);
  SetJson(config, "chat-template-kwargs", &template_arguments);
  if (const auto parallel = config.Bool("parallel-tool-calls")) parallel_tool_calls = parallel;
  SetBool(config, "enable-thinking", &enable_thinking);
  constexpr const char* kFormats[] = {"none", "auto", "deepseek"};
  if (const auto format = config.Word("reasoning-format", kFormats)) reasoning_format = kFormats[*format];
  SetBool(config, "add-generation-prompt", &add_generation_prompt);
  constexpr const char* kContinued[] = {"never", "auto", "always", "content", "reasoning_content"};
  if (const auto what = config.Word("continue-final-message", kContinued)) continue_final_message = kContinued[*what];
}

bool Settings::SameContext(const Settings& other) const {
  return context == other.context && batch == other.batch && micro_batch == other.micro_batch &&
         threads == other.threads && embedding == other.embedding && outputs == other.outputs &&
         branches == other.branches && cache == other.cache;
}

}  // namespace wasinn::llama
