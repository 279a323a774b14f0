#include "serve/openai/text_request.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace wasinn::serve::openai {

namespace {

using simdjson::dom::element;

constexpr size_t kMaxStops = 16;
constexpr double kLargest = 1000;
constexpr int64_t kMaxPenaltyTokens = 1 << 24, kMaxOfDry = 1 << 16;  // in tokens; the backend's limits

// Passes a number on under the model's key.
void PassNumber(Fields& fields, std::string_view name, double least, double most, std::string_view key,
                Options& options) {
  if (const auto number = fields.Number(name, least, most)) options.Add(key, Dump(*number));
}

void PassInteger(Fields& fields, std::string_view name, int64_t least, int64_t most, std::string_view key,
                 Options& options) {
  if (const auto integer = fields.Integer(name, least, most)) options.Add(key, std::to_string(*integer));
}

void PassFlag(Fields& fields, std::string_view name, std::string_view key, Options& options) {
  if (const auto flag = fields.Flag(name)) options.Add(key, *flag ? "true" : "false");
}

void PassJson(Fields& fields, std::string_view name, std::string_view key, Options& options) {
  if (const auto value = fields.Json(name)) options.Add(key, *value);
}

// Names of one field in several servers.
constexpr std::string_view kPenalties[] = {"repeat_penalty", "repetition_penalty"}, kSeeds[] = {"seed", "random_seed"};

template <typename Read>
auto ReadOneOf(Fields& fields, std::span<const std::string_view> names, Read&& read) {
  decltype(read(names.front())) found;
  for (const std::string_view name : names) {
    const auto one = read(name);
    if (one && found && *one != *found) {
      ThrowWrong(fields.NameOf(name), "{} contradicts a field with the same meaning", name);
    }
    if (one) found = one;
  }
  return found;
}

// A text or a list of texts.
void ReadStops(Fields& fields, Options& options) {
  std::optional<element> stop;
  for (const std::string_view name : {"stop", "stop_sequences", "stopping_strings"}) {
    const auto one = fields.Find(name);
    if (one && stop) ThrowWrong(fields.NameOf(name), "another field has the same meaning as {}", name);
    if (one) stop = one;
  }
  if (!stop) return;
  bool is_good = stop->is_string();
  if (stop->is_array()) {
    const simdjson::dom::array list = stop->get_array();
    is_good = list.size() <= kMaxStops;
    for (const element one : list) is_good = is_good && one.is_string();
  }
  if (!is_good) {
    ThrowWrong(fields.NameOf("stop"), "{} is neither a string nor a list of up to {} strings", fields.NameOf("stop"),
               kMaxStops);
  }
  options.Add("reverse-prompt", ToText(*stop));
}

}  // namespace

void Options::Add(std::string_view key, std::string_view value) {
  if (text_.size() + key.size() + value.size() > kMaxBytes) {
    throw ApiError{.status = http::status::payload_too_large,
                   .message = fmt::format("the sampling settings have more than {} bytes, with {}", kMaxBytes, key)};
  }
  if (text_.size() > 1) text_ += ',';
  text_ += fmt::format(R"("{}":{})", key, value);
}

void Options::AddText(std::string_view key, const std::string& value) { Add(key, Dump(value)); }

void AddOption(std::string& options, std::string_view key, std::string_view value) {
  options.pop_back();
  options += fmt::format(R"({}"{}":{}}})", options.size() > 1 ? "," : "", key, value);
}

std::string Options::Take() { return std::exchange(text_, {}) + "}"; }

namespace {

// Fields of llama.cpp's server that OpenAI does not have.
void ReadLlamaSampling(Fields& fields, Options& options) {
  // -1 is vLLM's value for all tokens.
  if (const auto k = fields.Integer("top_k", -1, INT32_MAX))
    options.Add("top-k", std::to_string(std::max<int64_t>(*k, 0)));
  PassNumber(fields, "min_p", 0, 1, "min-p", options);
  PassNumber(fields, "typical_p", 0, 1, "typical-p", options);
  const auto penalty =
      ReadOneOf(fields, kPenalties, [&](std::string_view name) { return fields.Number(name, 0.001, kLargest); });
  if (penalty) options.Add("repeat-penalty", Dump(*penalty));
  if (const auto tokens = fields.Find("stop_token_ids")) {
    const bool is_empty = tokens->is_array() && tokens->get_array().size() == 0;
    if (!is_empty && !IsTokens(*tokens)) {
      ThrowWrong(fields.NameOf("stop_token_ids"),
                 fields.NameOf("stop_token_ids") + " is not a list of tokens' numbers");
    }
    options.Add("stop-tokens", ToText(*tokens));
  }
  PassInteger(fields, "repeat_last_n", -1, kMaxPenaltyTokens, "repeat-last-n", options);
  PassNumber(fields, "dry_multiplier", 0, kLargest, "dry-multiplier", options);
  PassNumber(fields, "dry_base", 1, kLargest, "dry-base", options);
  PassInteger(fields, "dry_allowed_length", 0, kMaxOfDry, "dry-allowed-length", options);
  PassInteger(fields, "dry_penalty_last_n", 0, kMaxOfDry, "dry-penalty-last-n", options);
  PassJson(fields, "dry_sequence_breakers", "dry-sequence-breaker", options);
  PassNumber(fields, "xtc_probability", 0, 1, "xtc-probability", options);
  PassNumber(fields, "xtc_threshold", 0, 1, "xtc-threshold", options);
  PassInteger(fields, "mirostat", 0, 2, "mirostat", options);
  PassNumber(fields, "mirostat_tau", 0.001, kLargest, "mirostat-ent", options);
  PassNumber(fields, "mirostat_eta", 0, 1, "mirostat-lr", options);
  PassInteger(fields, "n_keep", -1, kMaxPenaltyTokens, "keep", options);
  PassFlag(fields, "ignore_eos", "ignore-eos", options);
  PassFlag(fields, "cache_prompt", "cache-prompt", options);
  // The host's adapters by name. llama.cpp's server numbers them, which is not supported.
  PassJson(fields, "lora", "lora", options);
  fields.Ignore({"dynatemp_exponent", "adaptive_decay", "backend_sampling", "n_cache_reuse", "sse_ping_interval"});
  fields.Refuse({"bad_words", "allowed_token_ids"});  // forbidden texts
}

}  // namespace

void ReadSampling(Fields& fields, Options& options, const SamplingLimits& limits) {
  fields.Join("options");  // Ollama's
  PassNumber(fields, "temperature", 0, limits.temperature, "temp", options);
  PassNumber(fields, "top_p", 0, 1, "top-p", options);
  PassNumber(fields, "presence_penalty", -limits.penalty, limits.penalty, "presence-penalty", options);
  PassNumber(fields, "frequency_penalty", -limits.penalty, limits.penalty, "frequency-penalty", options);
  // A model's seeds have 32 bits.
  const auto seed =
      ReadOneOf(fields, kSeeds, [&](std::string_view name) { return fields.Integer(name, INT64_MIN, INT64_MAX); });
  if (seed) {
    if (*seed == -1) {
      options.Add("seed", "-1");
    } else {
      options.seed = static_cast<uint32_t>(*seed);
    }
  }
  if (const auto bias = fields.Find("logit_bias")) options.Add("logit-bias", WithoutNulls(*bias, {}));
  ReadStops(fields, options);
  ReadLlamaSampling(fields, options);
}

void ReadMostTokens(Fields& fields, std::span<const std::string_view> names, Options& options) {
  // -1: until the model ends the text.
  const auto most =
      ReadOneOf(fields, names, [&](std::string_view name) { return fields.Integer(name, -1, INT32_MAX); });
  if (most) options.Add("n-predict", std::to_string(*most));
}

namespace {

using nlohmann::json;
using simdjson::dom::element;

constexpr char kAnyObject[] = R"({"type":"object"})";

// The only format of a request, as a key of the model and its value.
class ChosenForm {
 public:
  explicit ChosenForm(Options& options) : options_(options) {}

  // `name`: the field that chooses it.
  void Choose(const std::string& name, const char* key, const std::string& value) {
    if (!chosen_.empty()) ThrowWrong(name, "both {} and {} are set", chosen_, name);
    chosen_ = name;
    options_.Add(key, value);
  }
  void ChooseSchema(const std::string& name, const std::string& schema) {
    Choose(name, "json-schema", schema == "{}" ? kAnyObject : schema);
  }
  void ChooseGrammar(Fields& fields, std::string_view name) {
    const auto grammar = fields.Text(name);
    if (grammar && !grammar->empty()) Choose(fields.NameOf(name), "grammar", Dump(*grammar));
  }

 private:
  Options& options_;
  std::string chosen_;  // the field's name; "": none chosen
};

// A schema, or a text that contains one.
std::string SchemaIn(element given, const std::string& name) {
  if (!given.is_string()) return ToText(given);
  const auto text = static_cast<std::string_view>(given);
  const json parsed =
      text.size() > Options::kMaxBytes ? json(json::value_t::discarded) : json::parse(text, nullptr, false);
  if (parsed.is_discarded()) ThrowWrong(name, name + " is not a JSON schema");
  return Dump(parsed);
}

// A grammar that allows only these texts.
std::string GrammarOf(element texts, const std::string& name) {
  if (!texts.is_array()) ThrowWrong(name, name + " is not a list of texts");
  std::string grammar;
  bool is_good = true;
  for (const element one : texts.get_array()) {
    is_good = is_good && one.is_string();
    grammar += (grammar.empty() ? "root ::= " : " | ") + ToText(one);
  }
  if (!is_good) ThrowWrong(name, name + " is not a list of texts");
  return Dump(grammar);
}

// vLLM's old and new names. Regular expressions are not supported.
struct GuidedNames {
  std::string_view schema, choice, grammar, regex;
};

void ReadGuided(Fields& fields, const GuidedNames& names, ChosenForm& form) {
  if (const auto schema = fields.Find(names.schema)) {
    const std::string name = fields.NameOf(names.schema);
    form.ChooseSchema(name, SchemaIn(*schema, name));
  }
  if (const auto choice = fields.Find(names.choice); choice && !IsNothing(*choice)) {
    const std::string name = fields.NameOf(names.choice);
    form.Choose(name, "grammar", GrammarOf(*choice, name));
  }
  form.ChooseGrammar(fields, names.grammar);
  fields.Refuse({names.regex});
}

// OpenAI's {"type": …}, with a schema in `json_schema`, or next to the type.
void ReadFormat(Fields& format, ChosenForm& form) {
  const std::string type = format.Text("type").value_or(""), name = format.NameOf("type");
  auto inner = format.Object("json_schema");
  Fields& place = inner ? *inner : format;
  const auto schema = place.Json("schema");
  if (type == "json_object") {
    form.ChooseSchema(name, schema.value_or(kAnyObject));
  } else if (type == "json_schema") {
    const std::string missing = place.NameOf("schema");
    if (!schema) ThrowWrong(missing, missing + " is missing");
    form.ChooseSchema(name, *schema);
  } else if (type != "text") {
    ThrowWrong(name, name + " is not text, json_object or json_schema");
  }
  for (Fields* one : {&place, &format}) {
    one->Ignore({"name", "description", "strict"});
    one->CheckAllRead();
  }
}

// Ollama's format: a schema, or "json".
void ReadOllamaFormat(Fields& fields, ChosenForm& form) {
  const auto format = fields.Find("format");
  if (!format || IsNothing(*format)) return;
  if (format->is_object()) return form.ChooseSchema("format", ToText(*format));
  if (ToText(*format) != R"("json")") ThrowWrong("format", "format is neither a schema nor json");
  form.ChooseSchema("format", kAnyObject);
}

}  // namespace

void ReadResponseFormat(Fields& fields, Options& options) {
  ChosenForm form(options);
  if (auto format = fields.Object("response_format")) ReadFormat(*format, form);
  if (const auto schema = fields.Json("json_schema")) form.ChooseSchema("json_schema", *schema);  // llama.cpp's server
  ReadGuided(fields, {"guided_json", "guided_choice", "guided_grammar", "guided_regex"}, form);
  if (auto guided = fields.Object("structured_outputs")) {
    ReadGuided(*guided, {"json", "choice", "grammar", "regex"}, form);
    if (guided->Flag("json_object").value_or(false)) form.ChooseSchema("structured_outputs.json_object", kAnyObject);
    guided->Refuse({"structural_tag"});
    guided->CheckAllRead();
  }
  form.ChooseGrammar(fields, "grammar");
  form.ChooseGrammar(fields, "ebnf");  // SGLang's
  fields.Refuse({"regex"});
  ReadOllamaFormat(fields, form);
}

void ReadTextFormat(Fields& fields, Options& options) {
  ChosenForm form(options);
  auto text = fields.Object("text");
  if (!text) return;
  if (auto format = text->Object("format")) ReadFormat(*format, form);
  text->Ignore({"verbosity"});
  text->CheckAllRead();
}

}  // namespace wasinn::serve::openai
