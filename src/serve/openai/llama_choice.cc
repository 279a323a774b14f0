#include "serve/openai/llama_choice.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace wasinn::serve::openai {

using nlohmann::json;

namespace {

// The evaluated tokens: all but the last one, unless an end token came after it.
uint64_t CachedTokens(const Ending& ending, const json& metadata) {
  const uint64_t discarded = metadata.value("discarded_tokens", uint64_t{0});
  const bool has_last = ending.completion_tokens > 0 && metadata.value("stop_type", json()) != "eos";
  return ending.prompt_tokens + ending.completion_tokens - discarded - (has_last ? 1 : 0);
}

// null: the model is on another server, which does not report it.
json ReadGeneration(Completion& completion) {
  json read = json::parse(completion.Output("generation"), nullptr, false);
  return read.is_object() ? read : json();
}

json StopType(const Ending& ending, const json& metadata) {
  if (const json type = metadata.value("stop_type", json()); type.is_string()) return type;
  return ending.reason == "length" ? "limit" : "eos";
}

constexpr char kVerbose[] = "__verbose";

// Keys with another name in llama.cpp's server. Others differ only in _ instead of -.
std::string WordOf(const std::string& key) {
  static const std::unordered_map<std::string, std::string> others = {
      {"temp", "temperature"}, {"mirostat-ent", "mirostat_tau"}, {"mirostat-lr", "mirostat_eta"},
      {"keep", "n_keep"},      {"reverse-prompt", "stop"},       {"dry-sequence-breaker", "dry_sequence_breakers"}};
  if (const auto other = others.find(key); other != others.end()) return other->second;
  std::string word = key;
  std::ranges::replace(word, '-', '_');
  return word;
}

// null: the token is forbidden; JSON cannot express the infinite bias.
json Biases(const json& pairs) {
  json list = json::array();
  for (const json& pair : pairs) {
    list.push_back({{"token", pair.at(0)}, {"bias", pair.at(1).is_number() ? pair.at(1) : json()}});
  }
  return list;
}

}  // namespace

json ToJson(Completion& completion, const Ending& ending, LlamaChoice choice) {
  const json metadata = ReadOutput(completion, "metadata"), generation = ReadGeneration(completion);
  json members = {{"index", choice.index},
                  {"content", std::move(choice.content)},
                  {"tokens", std::move(choice.tokens)},
                  {"id_slot", kNoSlot},
                  {"stop", true},
                  {"model", std::move(choice.model)},
                  {"tokens_predicted", ending.completion_tokens},
                  {"tokens_evaluated", ending.prompt_tokens},
                  {"has_new_line", choice.has_new_line},
                  {"truncated", metadata.value("truncated", false)},
                  {"stop_type", StopType(ending, metadata)},
                  {"stopping_word", metadata.value("stopping_word", "")},
                  {"timings", TimingsOf(ending)}};
  if (generation.is_null()) return members;
  members["tokens_cached"] = CachedTokens(ending, metadata);
  members["generation_settings"] = ToLlamaSettings(generation.value("settings", json::object()), choice.is_stream);
  members["prompt"] = generation.value("prompt", "");
  return members;
}

json Verbose::Read(Completion& completion, const Ending& ending, bool is_stream) const {
  std::string text = completion.Output("completion");
  const bool has_new_line = text.contains('\n');
  return ToJson(completion, ending,
                {.content = std::move(text), .model = model_, .is_stream = is_stream, .has_new_line = has_new_line});
}

void Verbose::AddTo(json& chunk, Completion& completion, const Ending& ending) const {
  if (is_wanted_) chunk[kVerbose] = Read(completion, ending, /*is_stream=*/true);
}

size_t Verbose::Keep(Completion& completion, const Ending& ending) {
  if (!is_wanted_ || !kept_.is_null()) return 0;
  kept_ = Read(completion, ending, /*is_stream=*/false);
  return Dump(kept_).size();
}

void Verbose::MoveTo(json& whole) {
  if (!kept_.is_null()) whole[kVerbose] = std::move(kept_);
}

json ToLlamaSettings(const json& settings, bool is_stream) {
  constexpr int64_t kAnySeed = 4294967295;
  // Settings that do not exist here have their neutral values.
  json written = {{"dynatemp_range", 0.0},
                  {"dynatemp_exponent", 1.0},
                  {"top_n_sigma", -1.0},
                  {"adaptive_target", -1.0},
                  {"adaptive_decay", 0.9},
                  {"min_keep", 0},
                  {"n_discard", 0},
                  {"grammar_lazy", false},
                  {"backend_sampling", false},
                  {"timings_per_token", false},
                  {"stream", is_stream}};
  for (const auto& [key, value] : settings.items()) written[WordOf(key)] = value;
  written["logit_bias"] = Biases(settings.value("logit-bias", json::array()));
  written["max_tokens"] = written.value("n_predict", -1);
  if (written.value("seed", int64_t{-1}) < 0) written["seed"] = kAnySeed;
  return written;
}

}  // namespace wasinn::serve::openai
