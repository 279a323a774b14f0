#include "llama/logits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "common/throw.h"
#include "llama/log_sum.h"
#include "llama/model.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

size_t LengthOfRow(const Model& model, size_t top) {
  const size_t all = model.vocabulary_size();
  if (top <= all) return top == 0 ? all : top;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "top-logits: expected at most the model's {} tokens: found {}", all, top);
}

// A logit and its token as one number. Higher logits have higher numbers, and of equal ones the lower token; NaN has
// the lowest, because sorting needs an order.
uint64_t NumberOf(float logit, llama_token token) {
  const auto bits = std::bit_cast<uint32_t>(logit == 0 ? 0.0F : logit);
  constexpr uint32_t kSign = 1U << 31;
  const uint32_t order = std::isnan(logit) ? 0 : (bits & kSign) != 0 ? ~bits : bits | kSign;
  return uint64_t{order} << 32 | ~static_cast<uint32_t>(token);
}

llama_token TokenOf(uint64_t number) { return static_cast<llama_token>(~static_cast<uint32_t>(number)); }

}  // namespace

Logits::Logits(const Model& model, size_t rows, size_t top, uint64_t max_bytes, void* account)
    : vocabulary_(model.vocabulary_size()),
      top_(top),
      reservation_(model.host().services(), account),
      shape_{static_cast<int64_t>(rows), static_cast<int64_t>(LengthOfRow(model, top))} {
  const size_t numbers = rows * static_cast<size_t>(shape_[1]);
  const size_t ids = top == 0 ? 0 : numbers + vocabulary_ + rows;
  const uint64_t needed = numbers * sizeof(float) + ids * sizeof(llama_token) + top * sizeof(uint64_t);
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
  highest_.reserve(top);
}

void Logits::Take(const float* logits) {
  if (logits == nullptr) Throw(WASINN_ERROR_RUNTIME, "llama.cpp computed no logits");
  ChooseTop();
  std::vector<float>& to = top_ == 0 ? values_ : taken_;
  to.insert(to.end(), logits, logits + vocabulary_);
}

void Logits::Finish() { ChooseTop(); }

// Most tokens take one comparison, with the lowest of the highest so far.
void Logits::ChooseTop() {
  if (taken_.empty()) return;
  const float* const logits = taken_.data();
  const auto logit = [logits](uint64_t number) { return logits[TokenOf(number)]; };
  const auto count = static_cast<llama_token>(taken_.size());
  highest_.clear();
  llama_token token = 0;
  for (; highest_.size() < top_; ++token) highest_.push_back(NumberOf(logits[token], token));
  std::ranges::make_heap(highest_, std::greater());
  for (float lowest = logit(highest_.front()); token < count; ++token) {
    if (logits[token] <= lowest) [[likely]]
      continue;
    const uint64_t number = NumberOf(logits[token], token);
    if (number < highest_.front()) continue;
    std::ranges::pop_heap(highest_, std::greater());
    highest_.back() = number;
    std::ranges::push_heap(highest_, std::greater());
    lowest = logit(highest_.front());
  }
  std::ranges::sort_heap(highest_, std::greater());
  std::ranges::transform(highest_, std::back_inserter(tokens_), TokenOf);
  std::ranges::transform(highest_, std::back_inserter(values_), logit);
  log_sums_.push_back(static_cast<float>(LogSum(taken_, logit(highest_.front()))));
  taken_.clear();
}

}  // namespace wasinn::llama
