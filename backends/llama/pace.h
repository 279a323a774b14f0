// How much of prompts goes into a batch beside the tokens of those who generate.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace wasinn::llama {

// A batch with a large part of a prompt takes many times what a token takes, and whoever generates waits for it. So
// prompts come in parts that make a batch no more than so much longer than it would be without them. How long that is
// comes from the batches before. But small parts can be dear: attention of a few tokens to a long text has none of the
// quick kernels. Where a token costs several times what it does in a large part, parts are large: the prompt would take
// many times as long, and nobody would wait less. Where it costs but somewhat more, they are so too, if that is soon over:
// all have more tokens for each second then, and those of prompts sooner. One thread at a time.
class Pace {
 public:
  // Tokens of a part. From 64 on llama.cpp has its quick kernel of attention for CPUs, and one goes apart, with the others' tokens. What is
  // larger gains little and holds others up for longer.
  static constexpr size_t kLeast = 8, kLarge = 80;

  // Tokens of prompts for the next batch, in which so many others get a token (0: as many as in the last one). 0: it is to
  // be measured without. `prompts`: all tokens of those that wait, with what is evaluated.
  size_t Room(size_t prompts, size_t tokens = 0) {
    if (alone_ == 0 || ++in_a_row_ > kMostInARow || (tokens > 0 && IsOther(tokens))) return 0;
    const bool is_tried = in_large_ == 0 && in_a_row_ == kBeforeLarge;
    const double dear = prompts > kShort || kLarge * in_large_ > kLongTime ? kDear : kDearer;
    const bool is_dear = in_large_ > 0 && in_small_ > dear * in_large_;
    if (is_tried || (is_dear && in_a_row_ > 1)) return kLarge;  // the first one shows what a small part takes by now
    const size_t small = Fitting(in_small_);
    if (small < kLarge || in_large_ == 0) return std::min(small, kLarge);
    const size_t large = Fitting(in_large_);
    return large < kLarge ? kLarge - 1 : large;
  }

  // A batch took so long: with so many tokens of those who generate, and of prompts.
  void Add(size_t tokens, size_t prompt, std::chrono::duration<double> took) {
    if (prompt == 0) {
      if (IsOther(tokens)) alone_ = 0;
      alone_tokens_ = tokens;
      Move(&alone_, took.count());
      in_a_row_ = 0;
    } else if (tokens == 0) {
      if (prompt >= kLarge) Move(&in_large_, took.count() / static_cast<double>(prompt));
    } else if (alone_ > 0) {
      double* const each = prompt < kLarge ? &in_small_ : &in_large_;
      // What is far from what was expected has a batch measured without prompts.
      const double expected = alone_ + *each * static_cast<double>(prompt);
      if (*each > 0 && (took.count() > 2 * expected || took.count() < expected / 2)) in_a_row_ = kMostInARow;
      Move(each, std::max(took.count() - alone_, kLeastTime) / static_cast<double>(prompt));
    }
  }

 private:
  // Whether a batch of so many tokens takes about another time than the one that was measured.
  bool IsOther(size_t tokens) const { return 3 * tokens <= 2 * alone_tokens_ || 2 * tokens >= 3 * alone_tokens_; }

  // A part of which a token takes so long; 0: not known.
  size_t Fitting(double each) const {
    return each == 0 ? kLeast : std::max(kLeast, static_cast<size_t>((kLonger - 1) * alone_ / each));
  }

  static constexpr double kLonger = 1.6, kDear = 4, kDearer = 1.1, kLeastTime = 1e-7;
  static constexpr double kLongTime = 1;  // seconds
  static constexpr size_t kShort = 1024;  // tokens
  static constexpr int kBeforeLarge = 8;
  static constexpr int kMostInARow = 64;  // an older measure is none

  // Other work on the machine makes one batch much longer than the next.
  static void Move(double* mean, double value) {
    constexpr double kPart = 0.5, kMost = 2;
    *mean = *mean == 0 ? value : *mean + kPart * (std::clamp(value, *mean / kMost, *mean * kMost) - *mean);
  }

  double alone_ = 0;         // seconds of a batch without prompts; 0: not known
  size_t alone_tokens_ = 0;  // of that batch
  // Seconds more for each token of a prompt, in parts below kLarge and in others.
  double in_small_ = 0, in_large_ = 0;
  int in_a_row_ = 0;
};

}  // namespace wasinn::llama
