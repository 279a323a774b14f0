#include "llama/logit_biases.h"

#include <fmt/format.h>

#include <cmath>

#include "common/error.h"
#include "llama/model.h"
#include "llama/prompt.h"

namespace wasinn::llama {

using backend::Error;

std::vector<llama_logit_bias> BiasesByToken(const Model& model, const SamplingSettings& settings) {
  std::vector<llama_logit_bias> by_token;
  const auto most = static_cast<int32_t>(model.vocabulary_size());
  for (const LogitBias& one : settings.logit_bias) {
    if (one.token && (*one.token < 0 || *one.token >= most)) {
      throw Error(WASINN_INVALID_ARGUMENT,
                  fmt::format("logit-bias: token {}: the model has those from 0 to {}", *one.token, most - 1));
    }
    if (one.token) {
      by_token.push_back({*one.token, one.bias});
      continue;
    }
    for (const llama_token token : TokenizeSpecial(model, one.text)) by_token.push_back({token, one.bias});
  }
  if (!settings.ignore_end) return by_token;
  for (const llama_token token : model.end_tokens()) by_token.push_back({token, -INFINITY});
  return by_token;
}

}  // namespace wasinn::llama
