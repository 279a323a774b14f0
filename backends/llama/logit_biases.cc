#include "llama/logit_biases.h"

#include <cmath>
#include <map>

#include "common/throw.h"
#include "llama/model.h"
#include "llama/prompt.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

// A text has at most one token for each byte, and each of llama.cpp's steps goes through all of them.
constexpr size_t kMaxTokens = 4096;

// One entry for each token: llama.cpp would use only the first if a grammar has moved the token.
using ByToken = std::map<llama_token, float>;

void Add(ByToken& by_token, llama_token token, float bias) {
  by_token[token] += bias;
  if (by_token.size() <= kMaxTokens) return;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "logit-bias: the texts have more than {} tokens", kMaxTokens);
}

}  // namespace

std::vector<llama_logit_bias> BiasesByToken(const Model& model, const SamplingSettings& settings) {
  ByToken by_token;
  const auto most = static_cast<int32_t>(model.vocabulary_size());
  for (const LogitBias& one : settings.logit_bias) {
    if (one.token && (*one.token < 0 || *one.token >= most)) {
      Throw(WASINN_ERROR_INVALID_ARGUMENT, "logit-bias: token {}: the model has 0 to {}", *one.token, most - 1);
    }
    if (one.token) {
      Add(by_token, *one.token, one.bias);
      continue;
    }
    for (const llama_token token : TokenizeSpecial(model, one.text)) Add(by_token, token, one.bias);
  }
  if (settings.ignore_end) {
    for (const llama_token token : model.end_tokens()) by_token[token] = -INFINITY;
  }
  std::vector<llama_logit_bias> biases;
  for (const auto& [token, bias] : by_token) biases.push_back({token, bias});
  return biases;
}

}  // namespace wasinn::llama
