#include "llama/log_sum.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace wasinn::llama {

namespace {

constexpr size_t kLanes = 4, kPart = 128;  // so many are added up in single precision
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Integers = uint32_t __attribute__((vector_size(kLanes * sizeof(uint32_t))));

// e^x of x of at most 0, as 2^n times a polynomial: n goes into the exponent's bits. The relative error is 2e-7.
Floats Exp(Floats x) {
  constexpr float kLeast = -87, kLog2E = 1.44269504F, kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
  constexpr float kRound = 12582912;  // 1.5 * 2^23: a sum with it has no places after the point
  x = x < kLeast ? Floats{} + kLeast : x;
  const Floats shifted = x * kLog2E + kRound, n = shifted - kRound;
  const Floats r = x - n * kLn2High - n * kLn2Low;
  Floats p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = (p * r + 8.3334519073e-3F) * r + 4.1665795894e-2F;
  p = (p * r + 1.6666665459e-1F) * r + 0.5F;
  p = (p * r + 1) * r + 1;
  return std::bit_cast<Floats>((std::bit_cast<Integers>(shifted) + 127) << 23) * p;
}

}  // namespace

double LogSum(std::span<const float> logits, float highest) {
  double sum = 0;
  size_t i = 0;
  while (i + kPart <= logits.size()) {
    Floats sums = {}, some = {};
    for (const size_t end = i + kPart; i < end; i += kLanes) {
      std::memcpy(&some, &logits[i], sizeof(some));
      sums += Exp(some - highest);
    }
    for (size_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
  }
  for (; i < logits.size(); ++i) sum += std::exp(logits[i] - highest);
  return highest + std::log(sum);
}

}  // namespace wasinn::llama
