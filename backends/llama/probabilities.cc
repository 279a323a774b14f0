#include "llama/probabilities.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "llama/model.h"
#include "llama/prompt.h"

namespace wasinn::llama {

namespace {

// The logarithm of what all probabilities are divided by.
double LogSum(std::span<const float> logits) {
  const double most = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - most);
  return most + std::log(sum);
}

std::vector<llama_token> MostProbable(std::span<const float> logits, size_t n) {
  std::vector<llama_token> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto end = tokens.begin() + static_cast<ptrdiff_t>(std::min(n, tokens.size()));
  std::partial_sort(tokens.begin(), end, tokens.end(), [&](llama_token a, llama_token b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  tokens.erase(end, tokens.end());
  return tokens;
}

}  // namespace

Probabilities::Probabilities(const Model& model, size_t others, void* account)
    : model_(model), others_(others), reservation_(model.host().services(), account) {}

void Probabilities::Add(llama_token token, std::span<const float> logits) {
  using nlohmann::ordered_json;
  const double sum = LogSum(logits);
  const auto about = [&](llama_token one) {
    const std::string piece = PieceOf(model_, one, kWithSpecial);
    return ordered_json{{"token", piece},
                        {"logprob", logits[static_cast<size_t>(one)] - sum},
                        {"bytes", std::vector<uint8_t>(piece.begin(), piece.end())}};
  };
  ordered_json entry = about(token);
  entry["top_logprobs"] = ordered_json::array();
  if (others_ > 0) {
    for (const llama_token other : MostProbable(logits, others_)) entry["top_logprobs"].push_back(about(other));
  }
  const std::string written = entry.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  const size_t needed = text_.size() + written.size() + 1;
  if (needed > text_.capacity()) {
    reservation_.Resize(2 * needed);
    text_.reserve(2 * needed);
  }
  text_.pop_back();
  if (text_.size() > 1) text_ += ',';
  text_ += written + ']';
  step_ = '[' + written + ']';
}

}  // namespace wasinn::llama
