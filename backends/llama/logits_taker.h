// Receives the logits for choosing tokens.
#pragma once

namespace wasinn::llama {

class LogitsTaker {
 public:
  virtual ~LogitsTaker() = default;

  // The logits after one token, one for each token of the vocabulary; valid during the call. In a shared batch this
  // runs on the decoding thread of all: it only copies. NULL: llama.cpp computed none.
  virtual void Take(const float* logits) = 0;
};

}  // namespace wasinn::llama
