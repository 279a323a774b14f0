// Who gets the numbers by which tokens are chosen.
#pragma once

namespace wasinn::llama {

class LogitsTaker {
 public:
  virtual ~LogitsTaker() = default;

  // The logits of what follows one token, a number for each token of the vocabulary. They are gone when this returns.
  // Where others are decoded, too, it is the thread of all: it copies then, and chooses nothing. NULL: llama.cpp has
  // computed none.
  virtual void Take(const float* logits) = 0;
};

}  // namespace wasinn::llama
