// What a guest that decodes itself gets: logits, all or the highest.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/reservation.h"
#include "llama/llama_library.h"
#include "llama/logits_taker.h"

namespace wasinn::llama {

class Model;

// Of each of some tokens a row. One thread at a time.
class Logits : public LogitsTaker {
 public:
  // `top`: of a row so many of the highest, highest first; 0: those of all tokens, in their order. `max_bytes`: throws
  // WASINN_ERROR_TOO_LARGE where they would take more; 0: no limit. `account`: who pays for them.
  Logits(const Model& model, size_t rows, size_t top, uint64_t max_bytes, void* account);

  void Take(const float* logits) override;
  // No more come. On the guest's own thread, since it sorts.
  void Finish();

  // [rows, numbers in each]
  const int64_t* shape() const { return shape_.data(); }
  std::span<const float> values() const { return values_; }
  // Whose they are; with `top`.
  std::span<const llama_token> tokens() const { return tokens_; }
  // Of each row the logarithm of the sum of all tokens' e^logit: a logit less that is a log-probability. With `top`.
  std::span<const float> log_sums() const { return log_sums_; }

 private:
  void ChooseTop();

  const size_t vocabulary_, top_;
  backend::Reservation reservation_;  // goes after what it is for
  const std::array<int64_t, 2> shape_;
  std::vector<float> values_;
  std::vector<llama_token> tokens_;
  std::vector<float> log_sums_;
  std::vector<float> taken_;  // a row of which the highest are not chosen yet
  std::vector<llama_token> order_;
};

}  // namespace wasinn::llama
