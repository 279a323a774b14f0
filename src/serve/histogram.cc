#include "serve/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace wasinn::serve {

size_t Histogram::RangeOf(uint64_t ns) {
  if (ns < uint64_t{1} << kFirst) return 0;
  const size_t octave = std::bit_width(ns) - size_t{1};
  if (octave >= kLast) return kRanges - 1;
  const uint64_t part = (ns >> (octave - 2)) & (kParts - 1);
  return 1 + (octave - kFirst) * kParts + part;
}

uint64_t Histogram::Begin(size_t range) {
  if (range == 0) return 0;
  const size_t octave = kFirst + (range - 1) / kParts;
  const uint64_t part = (range - 1) % kParts;
  return (kParts + part) << (octave - 2);
}

Histogram::Counts Histogram::Look() const {
  Counts counts;
  for (size_t i = 0; i < kRanges; ++i) {
    counts.counts_[i] = counts_[i].load(std::memory_order_relaxed);
    counts.total_ += counts.counts_[i];
  }
  return counts;
}

double Histogram::Counts::Percentile(double share) const {
  if (total_ == 0) return 0;
  const double rank = std::clamp(std::ceil(share * static_cast<double>(total_)), 1.0, static_cast<double>(total_));
  double below = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    const auto here = static_cast<double>(counts_[i]);
    if (here == 0 || below + here < rank) {
      below += here;
      continue;
    }
    const auto begin = static_cast<double>(Begin(i));
    if (i + 1 == counts_.size()) return begin;  // it has no end
    return begin + (static_cast<double>(Begin(i + 1)) - begin) * (rank - below) / here;
  }
  return static_cast<double>(Begin(counts_.size() - 1));
}

}  // namespace wasinn::serve
