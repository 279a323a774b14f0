// Logits for a guest that decodes itself: all of them or the highest.
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

// A row for each of several tokens. Used by one thread at a time.
class Logits : public LogitsTaker {
 public:
  // `top`: the number of highest logits in a row, in descending order; 0: those of all tokens, in their order. Throws
  // WASINN_ERROR_TOO_LARGE if they need more than `max_bytes`; 0: no limit. `account`: pays for them.
  Logits(const Model& model, size_t rows, size_t top, uint64_t max_bytes, void* account);

  void Take(const float* logits) override;
  // Called after the last row, on the guest's own thread, because it sorts.
  void Finish();

  // [rows, numbers in each]
  const int64_t* shape() const { return shape_.data(); }
  std::span<const float> values() const { return values_; }
  // The tokens of the logits; only with `top`.
  std::span<const llama_token> tokens() const { return tokens_; }
  // For each row the logarithm of the sum of all e^logit: a logit minus it is a log-probability. Only with `top`.
  std::span<const float> log_sums() const { return log_sums_; }

 private:
  void ChooseTop();

  const size_t vocabulary_, top_;
  backend::Reservation reservation_;  // destroyed after the numbers
  const std::array<int64_t, 2> shape_;
  std::vector<float> values_;
  std::vector<llama_token> tokens_;
  std::vector<float> log_sums_;
  std::vector<float> taken_;  // a row whose highest logits are not chosen yet
  std::vector<uint64_t> highest_;
};

}  // namespace wasinn::llama
