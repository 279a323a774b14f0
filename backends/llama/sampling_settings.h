// How tokens are chosen, beyond what every program sets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config.h"

namespace wasinn::llama {

// What is added to the logit of one token, or of each token of a text.
struct LogitBias {
  std::optional<int32_t> token;  // none: the text's
  std::string text;
  float bias = 0;
};

// The names and defaults are llama.cpp's.
struct SamplingSettings {
  std::vector<LogitBias> logit_bias;
  bool ignore_end = false;               // a token that ends a text is never chosen
  std::optional<int32_t> probabilities;  // of each token, and so many that might have come
  // These are told as they were when it was chosen, and not as the model has them.
  bool probabilities_after = false;
  double dry_multiplier = 0;  // 0: off
  double dry_base = 1.75;
  int32_t dry_allowed_length = 2;
  int32_t dry_penalty_tokens = 64;
  std::vector<std::string> dry_breakers = {"\n", ":", "\"", "*"};
  double xtc_probability = 0;  // 0: off
  double xtc_threshold = 0.1;
  int32_t mirostat = 0;  // 0: off; its version
  double mirostat_entropy = 5, mirostat_rate = 0.1;

  // What `config` says on top of these. Throws WASINN_ERROR_INVALID_ARGUMENT that names a key and its limits.
  void Apply(const backend::Config& config);
};

}  // namespace wasinn::llama
