// Sampling settings beyond the most common ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config.h"

namespace wasinn::llama {

// The bias for one token, or for each token of a text.
struct LogitBias {
  std::optional<int32_t> token;  // none: the text's
  std::string text;
  float bias = 0;
};

// The names and defaults are llama.cpp's.
struct SamplingSettings {
  std::vector<LogitBias> logit_bias;
  bool ignore_end = false;               // tokens that end a text are never chosen
  std::optional<int32_t> probabilities;  // of each token, and this many alternatives
  // Probabilities after the samplers instead of the model's.
  bool probabilities_after = false;
  double dry_multiplier = 0;  // 0: off
  double dry_base = 1.75;
  int32_t dry_allowed_length = 2;
  int32_t dry_penalty_tokens = 64;
  std::vector<std::string> dry_breakers = {"\n", ":", "\"", "*"};
  double xtc_probability = 0;  // 0: off
  double xtc_threshold = 0.1;
  int32_t mirostat = 0;  // the version; 0: off
  double mirostat_entropy = 5, mirostat_rate = 0.1;

  // Applies `config` over these settings. Throws WASINN_ERROR_INVALID_ARGUMENT that names a key and its limits.
  void Apply(const backend::Config& config);
};

}  // namespace wasinn::llama
