#include "llama/generation_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "llama/logit_biases.h"
#include "llama/model.h"
#include "llama/token_lists.h"

namespace wasinn::llama {

using nlohmann::json;

namespace {

// In the key's form: a token that is never chosen has `false`.
json BiasesAsJson(const Model& model, const SamplingSettings& settings) {
  json list = json::array();
  for (const llama_logit_bias& one : BiasesByToken(model, settings)) {
    list.push_back({one.token, std::isinf(one.bias) ? json(false) : json(one.bias)});
  }
  return list;
}

json SamplingAsJson(const Model& model, const SamplingSettings& settings) {
  return {{"logit-bias", BiasesAsJson(model, settings)},       {"ignore-eos", settings.ignore_end},
          {"n-probs", settings.probabilities.value_or(0)},     {"post-sampling-probs", settings.probabilities_after},
          {"dry-multiplier", settings.dry_multiplier},         {"dry-base", settings.dry_base},
          {"dry-allowed-length", settings.dry_allowed_length}, {"dry-penalty-last-n", settings.dry_penalty_tokens},
          {"dry-sequence-breaker", settings.dry_breakers},     {"xtc-probability", settings.xtc_probability},
          {"xtc-threshold", settings.xtc_threshold},           {"mirostat", settings.mirostat},
          {"mirostat-ent", settings.mirostat_entropy},         {"mirostat-lr", settings.mirostat_rate}};
}

json SettingsAsJson(const Model& model, const Settings& settings) {
  json written = SamplingAsJson(model, settings.sampling);
  written.update({{"seed", settings.seed},
                  {"temp", settings.temperature},
                  {"top-k", settings.top_k},
                  {"top-p", settings.top_p},
                  {"min-p", settings.min_p},
                  {"typical-p", settings.typical_p},
                  {"repeat-penalty", settings.repeat_penalty},
                  {"repeat-last-n", settings.repeat_tokens},
                  {"presence-penalty", settings.presence_penalty},
                  {"frequency-penalty", settings.frequency_penalty},
                  {"n-predict", settings.predict},
                  {"keep", settings.keep},
                  {"reverse-prompt", settings.stop_words},
                  {"grammar", settings.grammar},
                  {"json-schema", settings.json_schema}});
  return written;
}

}  // namespace

std::string ReportOf(const Model& model, const Settings& settings, std::span<const llama_token> prompt,
                     backend::Reservation* reservation) {
  // The upper limit until its length is known: a byte takes at most six in JSON.
  constexpr size_t kInJson = 6;
  const size_t longest = std::max<size_t>(model.scan().longest_token, 1);
  reservation->Resize(std::min(prompt.size() * longest, kMaxTextBytes) * kInJson);
  // Placeholders of images have no text.
  std::vector<llama_token> tokens(prompt.begin(), prompt.end());
  std::erase(tokens, LLAMA_TOKEN_NULL);
  const json report = {{"prompt", TextOf(model, tokens)}, {"settings", SettingsAsJson(model, settings)}};
  std::string text = report.dump(-1, ' ', false, json::error_handler_t::replace);
  reservation->Resize(text.size());
  return text;
}

}  // namespace wasinn::llama
