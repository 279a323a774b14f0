#include "serve/openai/llama_settings.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace wasinn::serve::openai {
namespace {

using nlohmann::json;

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
