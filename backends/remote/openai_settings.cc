#include "remote/openai.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "common/error.h"

namespace wasinn::remote {

using backend::Config;
using backend::Error;

namespace {

// The limits of the backend llama.
constexpr size_t kDeepestJson = 32, kLongestText = 64 << 10, kMaxTools = 128, kMaxStrings = 32, kLongestStop = 256;
constexpr uint32_t kText = kChat | kCompletions;

struct NumberKey {
  const char *key, *field;
  double least, most;
};
constexpr NumberKey kNumbers[] = {
    {"temp", "temperature", 0, 1000},
    {"top-p", "top_p", 0, 1},
    {"min-p", "min_p", 0, 1},
    {"typical-p", "typical_p", 0, 1},
    {"repeat-penalty", "repeat_penalty", 0.001, 1000},
    {"presence-penalty", "presence_penalty", -1000, 1000},
    {"frequency-penalty", "frequency_penalty", -1000, 1000},
    {"dry-multiplier", "dry_multiplier", 0, 1000},
    {"dry-base", "dry_base", 1, 1000},
    {"xtc-probability", "xtc_probability", 0, 1},
    {"xtc-threshold", "xtc_threshold", 0, 1},
    {"mirostat-ent", "mirostat_tau", 0.001, 1000},
    {"mirostat-lr", "mirostat_eta", 0.001, 1000},
};

struct IntegerKey {
  const char *key, *field;
  int64_t least, most;
  uint32_t where = kText;
};
constexpr IntegerKey kIntegers[] = {
    {"top-k", "top_k", 0, INT32_MAX},
    {"repeat-last-n", "repeat_last_n", -1, 1 << 24},
    {"dry-allowed-length", "dry_allowed_length", 0, 1 << 16},
    {"dry-penalty-last-n", "dry_penalty_last_n", 0, 1 << 16},
    {"mirostat", "mirostat", 0, 2},
    {"embd-normalize", "embd_normalize", -1, 1000, kEmbeddings},
};

struct BoolKey {
  const char *key, *field;
  uint32_t where;
};
constexpr BoolKey kBools[] = {
    {"cache-prompt", "cache_prompt", kText},
    {"ignore-eos", "ignore_eos", kText},
    {"parallel-tool-calls", "parallel_tool_calls", kChat},
    {"add-generation-prompt", "add_generation_prompt", kChat},
};

std::string Limited(const char* key, std::string text) {
  if (text.size() <= kLongestText) return text;
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              fmt::format("{}: expected at most {} bytes, found {}", key, kLongestText, text.size()));
}

// Returns JSON from a text or a value; empty for null.
std::optional<std::string> JsonOf(const Config& config, const char* key) {
  auto json = config.JsonText(key, kDeepestJson);
  if (!json) return json;
  return *json == "null" ? "" : Limited(key, *std::move(json));
}

std::optional<std::string> StringsOf(const Config& config, const char* key) {
  auto list = config.StringList(key);
  if (!list) return std::nullopt;
  std::erase(*list, "");
  const auto is_long = [](const std::string& one) { return one.size() > kLongestStop; };
  if (list->size() > kMaxStrings || std::ranges::any_of(*list, is_long)) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT,
                fmt::format("{}: expected at most {} strings of at most {} bytes", key, kMaxStrings, kLongestStop));
  }
  return list->empty() ? "" : base::Dump(nlohmann::json(*list));
}

void CheckReferences(const char* key, const std::string& text) {
  if (!RefersElsewhere(text)) return;
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              fmt::format("{}: nothing is fetched: a $ref must be within the schema, and begin with '#'", key));
}

// Tools may name files that a server fetches. Returns new text: if a name occurs twice, the server sees the checked
// value.
std::string CheckedTools(const std::string& text) {
  CheckReferences("tools", text);
  const auto tools = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto is_function = [](const nlohmann::ordered_json& tool) {
    return tool.is_object() && tool.contains("type") && tool.at("type") == "function";
  };
  if (tools.is_array() && tools.size() <= kMaxTools && std::ranges::all_of(tools, is_function)) return tools.dump();
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              fmt::format("tools: expected a list of at most {} tools of type \"function\"", kMaxTools));
}

[[noreturn]] void RefuseKey(const char* key, const char* why) {
  throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION, fmt::format("{}: {}", key, why));
}

// Refuses keys that would make answers wrong if they were ignored.
void RefuseUnsupportedKeys(const Config& config) {
  constexpr const char* kNot = "servers with OpenAI's API do not support it";
  for (const char* key : kRefusedFlags) {
    if (config.Bool(key).value_or(false)) RefuseKey(key, kNot);
  }
  for (const char* key : kRefusedTexts) {
    if (!config.String(key).value_or("").empty()) RefuseKey(key, kNot);
  }
  if (!config.Bool("add-special").value_or(true)) RefuseKey("add-special", kNot);
  if (config.Has("lora")) RefuseKey("lora", kNot);
  if (!config.String("mmproj").value_or("").empty()) RefuseKey("mmproj", "the server has the projector");
  if (!config.String("image").value_or("").empty()) {
    RefuseKey("image", "no file is opened for a guest: images are parts of messages, as data: URLs");
  }
}

}  // namespace

void LanguageSettings::Apply(const Config& config) {
  RefuseUnsupportedKeys(config);
  chat_ = config.Bool("chat").value_or(chat_);
  embedding_ = config.Bool("embedding").value_or(embedding_);
  texts_ = config.Bool("texts").value_or(texts_);
  tokens_ = config.Bool("tokens").value_or(tokens_);
  SetNumbers(config);
  SetTexts(config);
  SetChat(config);
  SetTemplate(config);
  if (tokens_ && (chat_ || texts_)) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT, "tokens: cannot be combined with chat or texts");
  }
  if (texts_ && (chat_ || api() != kEmbeddings)) {
    throw Error(WASINN_ERROR_INVALID_ARGUMENT, "texts: expected embedding and no chat");
  }
}

void LanguageSettings::ApplyHost(const Config& config) {
  constexpr const char* kApis[] = {"auto", "chat", "completions", "embeddings"};
  constexpr uint32_t kMasks[] = {kChat | kCompletions | kEmbeddings, kChat, kCompletions, kEmbeddings};
  if (const auto word = config.Word("api", kApis)) only_ = kMasks[*word];
  constexpr const char* kNames[] = {"max_tokens", "max_completion_tokens"};
  if (const auto word = config.Word("max_tokens_field", kNames)) most_tokens_ = kNames[*word];
  Apply(config);
}

void LanguageSettings::SetNumbers(const Config& config) {
  for (const NumberKey& one : kNumbers) {
    const auto number = config.Number(one.key, one.least, one.most);
    if (number) Set(kText, one.field, fmt::format("{}", *number));
  }
  for (const IntegerKey& one : kIntegers) {
    const auto integer = config.Integer(one.key, one.least, one.most);
    if (integer) Set(one.where, one.field, std::to_string(*integer));
  }
  for (const BoolKey& one : kBools) {
    if (const auto flag = config.Bool(one.key)) Set(one.where, one.field, *flag ? "true" : "false");
  }
  if (const auto seed = config.Integer("seed", -1, UINT32_MAX)) {
    Set(kText, "seed", *seed < 0 ? "" : std::to_string(*seed));
  }
  if (const auto n = config.Integer("n-predict", -1, INT32_MAX)) predict_ = n;
  if (const auto n = config.Integer("n-probs", 0, 20)) probabilities_ = n;
}

void LanguageSettings::SetTexts(const Config& config) {
  if (auto stops = StringsOf(config, "reverse-prompt")) Set(kText, "stop", *std::move(stops));
  if (auto breakers = StringsOf(config, "dry-sequence-breaker"))
    Set(kText, "dry_sequence_breakers", *std::move(breakers));
  constexpr size_t kDeepestBias = 2;
  if (auto bias = config.ValueText("logit-bias", kDeepestBias)) {
    Set(kText, "logit_bias", Limited("logit-bias", *std::move(bias)));
  }
  if (const auto grammar = config.String("grammar")) {
    Set(kText, "grammar", grammar->empty() ? "" : base::Quoted(Limited("grammar", *grammar)));
  }
  if (auto schema = JsonOf(config, "json-schema")) {
    if (!schema->empty()) CheckReferences("json-schema", *schema);
    json_schema_ = *std::move(schema);
  }
}

void LanguageSettings::SetChat(const Config& config) {
  if (auto tools = JsonOf(config, "tools")) {
    Set(kChat, "tools", tools->empty() ? "" : CheckedTools(*tools));
  }
  if (auto choice = config.ValueText("tool-choice", kDeepestJson)) {
    Set(kChat, "tool_choice", *choice == "null" ? "" : Limited("tool-choice", *std::move(choice)));
  }
  constexpr const char* kFormats[] = {"none", "auto", "deepseek"};
  if (const auto format = config.Word("reasoning-format", kFormats)) {
    Set(kChat, "reasoning_format", base::Quoted(kFormats[*format]));
  }
  constexpr const char* kContinued[] = {"never", "auto", "always", "content", "reasoning_content"};
  constexpr const char* kSaid[] = {"false", "", "true", R"("content")", R"("reasoning_content")"};
  if (const auto what = config.Word("continue-final-message", kContinued)) {
    Set(kChat, "continue_final_message", kSaid[*what]);
  }
}

void LanguageSettings::SetTemplate(const Config& config) {
  if (auto arguments = JsonOf(config, "chat-template-kwargs")) template_arguments_ = *std::move(arguments);
  if (const auto thinks = config.Bool("enable-thinking")) thinks_ = thinks;
  if (template_arguments_.empty() && !thinks_) return;
  auto object = nlohmann::ordered_json::parse(template_arguments_.empty() ? "{}" : template_arguments_);
  if (!object.is_object()) throw Error(WASINN_ERROR_INVALID_ARGUMENT, "chat-template-kwargs: expected an object");
  for (const auto& [name, value] : object.items()) {
    // Some servers would use it as the template.
    if (EndsInName(name, "chat_template")) RefuseKey("chat-template-kwargs", "the server has the template");
  }
  if (thinks_ && !object.contains("enable_thinking")) object["enable_thinking"] = *thinks_;
  Set(kChat, "chat_template_kwargs", object.dump());
}

Api LanguageSettings::api() const {
  if (embedding_ || only_ == kEmbeddings) {
    if ((only_ & kEmbeddings) == 0) RefuseKey("embedding", "the host says that this server makes none (api)");
    return kEmbeddings;
  }
  if (chat_ && (only_ & kChat) == 0) RefuseKey("chat", "the host says that this server has no chats (api)");
  if (chat_) return kChat;
  if (tokens_ && (only_ & kCompletions) == 0)
    RefuseKey("tokens", "the host says that this server has only chats (api)");
  return (only_ & kCompletions) != 0 ? kCompletions : kChat;
}

std::string LanguageSettings::Fields() const {
  const Api now = api();
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format(R"(,"{}":{})", name, value);
  };
  for (const auto& [name, field] : fields_) {
    if ((field.where & now) != 0) add(name, field.json);
  }
  if (now == kEmbeddings) {
    add("encoding_format", R"("float")");
    return text;
  }
  if (predict_ && *predict_ >= 0) add(now == kChat ? most_tokens_ : "max_tokens", std::to_string(*predict_));
  if (probabilities_ && now == kChat) {
    add("logprobs", "true");
    add("top_logprobs", std::to_string(*probabilities_));
  } else if (probabilities_) {
    add("logprobs", std::to_string(*probabilities_));
  }
  if (json_schema_.empty()) return text;
  if (now == kCompletions) {
    add("json_schema", json_schema_);  // llama.cpp's field; OpenAI has none here
  } else {
    add("response_format",
        fmt::format(R"({{"type":"json_schema","json_schema":{{"name":"answer","schema":{}}}}})", json_schema_));
  }
  return text;
}

}  // namespace wasinn::remote
