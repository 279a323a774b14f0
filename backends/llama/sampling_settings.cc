#include "llama/sampling_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/throw.h"
#include "llama/set_values.h"

namespace wasinn::llama {

using backend::Config;
using backend::Throw;
using nlohmann::json;

namespace {

constexpr size_t kMaxBiases = 1024, kLongestBiased = 256, kMaxBreakers = 16, kLongestBreaker = 40;
constexpr int64_t kMaxProbabilities = 20, kMaxDryTokens = 1 << 16;

[[noreturn]] void RefuseBias() {
  Throw(WASINN_ERROR_INVALID_ARGUMENT,
        "logit-bias: expected {{\"token or text\": number or false}} or [[token or text, number or false]], no more "
        "than {} of texts of at most {} bytes",
        kMaxBiases, kLongestBiased);
}

float BiasOf(const json& value) {
  if (value.is_boolean() && !value.get<bool>()) return -INFINITY;
  if (!value.is_number()) RefuseBias();
  return static_cast<float>(std::clamp(value.get<double>(), -1000.0, 1000.0));
}

LogitBias OfText(const std::string& text, const json& value) {
  if (text.empty() || text.size() > kLongestBiased) RefuseBias();
  return {.token = std::nullopt, .text = text, .bias = BiasOf(value)};
}

// OpenAI's objects have token numbers as names.
LogitBias BiasOfName(const std::string& name, const json& value) {
  LogitBias bias = OfText(name, value);
  int32_t token = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), token);
  if (failed == std::errc() && end == name.data() + name.size()) bias.token = token;
  return bias;
}

LogitBias OfPair(const json& pair) {
  if (!pair.is_array() || pair.size() != 2) RefuseBias();
  if (pair[0].is_string()) return OfText(pair[0].get<std::string>(), pair[1]);
  if (!pair[0].is_number_integer()) RefuseBias();
  const auto token = static_cast<int32_t>(std::clamp<int64_t>(pair[0].get<int64_t>(), -1, INT32_MAX));
  return {.token = token, .text = "", .bias = BiasOf(pair[1])};
}

std::vector<LogitBias> Biases(const std::string& text) {
  const json given = json::parse(text);
  if (!given.is_structured() || given.size() > kMaxBiases) RefuseBias();
  std::vector<LogitBias> biases;
  for (const auto& [name, value] : given.items()) {
    biases.push_back(given.is_object() ? BiasOfName(name, value) : OfPair(value));
  }
  return biases;
}

}  // namespace

void SamplingSettings::Apply(const Config& config) {
  constexpr size_t kDeepestBias = 2;
  if (const auto text = config.ValueText("logit-bias", kDeepestBias)) logit_bias = Biases(*text);
  SetBool(config, "ignore-eos", &ignore_end);
  SetInteger<int32_t>(config, "n-probs", 0, kMaxProbabilities, &probabilities);
  SetBool(config, "post-sampling-probs", &probabilities_after);
  SetNumber(config, "dry-multiplier", 0, 1000, &dry_multiplier);
  SetNumber(config, "dry-base", 1, 1000, &dry_base);
  SetInteger(config, "dry-allowed-length", 0, kMaxDryTokens, &dry_allowed_length);
  SetInteger(config, "dry-penalty-last-n", 0, kMaxDryTokens, &dry_penalty_tokens);
  if (auto breakers = config.StringList("dry-sequence-breaker")) {
    std::erase(*breakers, "");
    if (breakers->size() > kMaxBreakers ||
        std::ranges::any_of(*breakers, [](const std::string& text) { return text.size() > kLongestBreaker; })) {
      Throw(WASINN_ERROR_INVALID_ARGUMENT, "dry-sequence-breaker: expected at most {} strings of at most {} bytes",
            kMaxBreakers, kLongestBreaker);
    }
    dry_breakers = *std::move(breakers);
  }
  SetNumber(config, "xtc-probability", 0, 1, &xtc_probability);
  SetNumber(config, "xtc-threshold", 0, 1, &xtc_threshold);
  SetInteger(config, "mirostat", 0, 2, &mirostat);
  SetNumber(config, "mirostat-ent", 0.001, 1000, &mirostat_entropy);
  SetNumber(config, "mirostat-lr", 0, 1, &mirostat_rate);
}

}  // namespace wasinn::llama
