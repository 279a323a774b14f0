#include "llama/probabilities.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "llama/log_sum.h"
#include "llama/model.h"
#include "llama/prompt.h"
#include "llama/sampler.h"

namespace wasinn::llama {

using nlohmann::ordered_json;

namespace {

// The indices of the highest ones, in descending order.
std::vector<size_t> Highest(std::span<const float> logits, size_t n) {
  std::vector<size_t> places(logits.size());
  std::iota(places.begin(), places.end(), size_t{0});
  const auto end = places.begin() + static_cast<ptrdiff_t>(std::min(n, places.size()));
  std::partial_sort(places.begin(), end, places.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  places.erase(end, places.end());
  return places;
}

}  // namespace

Probabilities::Probabilities(const Model& model, size_t others, bool after, void* account)
    : model_(model), others_(others), after_(after), reservation_(model.host().services(), account) {}

ordered_json Probabilities::About(llama_token token, const char* name, double number) const {
  const std::string piece = PieceOf(model_, token, kWithSpecial);
  return {{"token", piece}, {"id", token}, {name, number}, {"bytes", std::vector<uint8_t>(piece.begin(), piece.end())}};
}

ordered_json Probabilities::OfModel(llama_token token, std::span<const float> logits) const {
  const double sum = LogSum(logits, *std::ranges::max_element(logits));
  const auto about = [&](size_t one) { return About(static_cast<llama_token>(one), "logprob", logits[one] - sum); };
  ordered_json entry = about(static_cast<size_t>(token));
  ordered_json& top = entry["top_logprobs"] = ordered_json::array();
  if (others_ == 0) return entry;
  for (const size_t other : Highest(logits, others_)) top.push_back(about(other));
  return entry;
}

ordered_json Probabilities::OfChoice(llama_token token, std::span<const llama_token_data> candidates) const {
  std::vector<float> logits(candidates.size());
  std::ranges::transform(candidates, logits.begin(), &llama_token_data::logit);
  const double sum = LogSum(logits, *std::ranges::max_element(logits));
  const auto about = [&](size_t place) { return About(candidates[place].id, "prob", std::exp(logits[place] - sum)); };
  const auto chosen = std::ranges::find(candidates, token, &llama_token_data::id);
  ordered_json entry = about(static_cast<size_t>(chosen - candidates.begin()));
  ordered_json& top = entry["top_probs"] = ordered_json::array();
  for (const size_t place : Highest(logits, others_)) {
    // Without those that a sampler has excluded.
    if (ordered_json other = about(place); other["prob"] > 0.0) top.push_back(std::move(other));
  }
  return entry;
}

void Probabilities::Add(llama_token token, const Sampler& sampler) {
  const ordered_json entry = after_ ? OfChoice(token, sampler.candidates()) : OfModel(token, sampler.logits());
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
