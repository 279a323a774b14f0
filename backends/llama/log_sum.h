// The logarithm of the divisor of all probabilities, as a sum in vectors.
#pragma once

#include <span>

namespace wasinn::llama {

// Its argument is the sum of all e^logit; to six digits. `highest`: the highest logit.
double LogSum(std::span<const float> logits, float highest);

}  // namespace wasinn::llama
