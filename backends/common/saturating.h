// Sums and products of sizes that a model declares. UINT64_MAX stands for more than can be counted.
#pragma once

#include <cstdint>

namespace wasinn::backend {

constexpr uint64_t AddSat(uint64_t one, uint64_t other) {
  uint64_t sum = 0;
  return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

// What could not be counted stays so, also times zero: a framework that multiplies the same dimensions goes wrong before.
constexpr uint64_t MulSat(uint64_t so_far, uint64_t factor) {
  uint64_t product = 0;
  const bool too_many = so_far == UINT64_MAX || __builtin_mul_overflow(so_far, factor, &product);
  return too_many ? UINT64_MAX : product;
}

}  // namespace wasinn::backend
