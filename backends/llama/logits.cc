#include "llama/logits.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/throw.h"
#include "llama/model.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

size_t LengthOfRow(const Model& model, size_t top) {
  const size_t all = model.vocabulary_size();
  if (top <= all) return top == 0 ? all : top;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "top-logits: expected at most the model's {} tokens: found {}", all, top);
}

// Descending; equal values keep their order. NaN comes last, because sorting needs an order.
bool IsHigher(float a, float b) { return a > b || (std::isnan(b) && !std::isnan(a)); }

float LogSumOf(std::span<const float> logits, float highest) {
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - highest);
  return static_cast<float>(highest + std::log(sum));
}

}  // namespace

Logits::Logits(const Model& model, size_t rows, size_t top, uint64_t max_bytes, void* account)
    : vocabulary_(model.vocabulary_size()),
      top_(top),
      reservation_(model.host().services(), account),
      shape_{static_cast<int64_t>(rows), static_cast<int64_t>(LengthOfRow(model, top))} {
  const size_t numbers = rows * static_cast<size_t>(shape_[1]);
  const size_t ids = top == 0 ? 0 : numbers + 2 * vocabulary_ + rows;
  const uint64_t needed = numbers * sizeof(float) + ids * sizeof(llama_token);
  if (max_bytes != 0 && needed > max_bytes) {
    Throw(WASINN_ERROR_TOO_LARGE, "the logits of {} tokens take {} bytes: no more than {} are allowed", rows, needed,
          max_bytes);
  }
  reservation_.Resize(needed);
  values_.reserve(numbers);
  if (top == 0) return;
  tokens_.reserve(numbers);
  log_sums_.reserve(rows);
  taken_.reserve(vocabulary_);
  order_.resize(vocabulary_);
}

void Logits::Take(const float* logits) {
  if (logits == nullptr) Throw(WASINN_ERROR_RUNTIME, "llama.cpp computed no logits");
  ChooseTop();
  std::vector<float>& to = top_ == 0 ? values_ : taken_;
  to.insert(to.end(), logits, logits + vocabulary_);
}

void Logits::Finish() { ChooseTop(); }

void Logits::ChooseTop() {
  if (taken_.empty()) return;
  std::iota(order_.begin(), order_.end(), 0);
  const auto end = order_.begin() + static_cast<ptrdiff_t>(top_);
  const auto logit = [this](llama_token token) { return taken_[static_cast<size_t>(token)]; };
  std::partial_sort(order_.begin(), end, order_.end(), [&](llama_token a, llama_token b) {
    return IsHigher(logit(a), logit(b)) || (a < b && !IsHigher(logit(b), logit(a)));
  });
  tokens_.insert(tokens_.end(), order_.begin(), end);
  std::transform(order_.begin(), end, std::back_inserter(values_), logit);
  log_sums_.push_back(LogSumOf(taken_, logit(order_.front())));
  taken_.clear();
}

}  // namespace wasinn::llama
