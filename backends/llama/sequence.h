// Where the tokens of one conversation are evaluated.
#ifndef WASINN_BACKENDS_LLAMA_SEQUENCE_H_
#define WASINN_BACKENDS_LLAMA_SEQUENCE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "common/cancel_gate.h"
#include "llama/sampler.h"

namespace wasinn::llama {

// One thread at a time.
class Sequence {
 public:
  virtual ~Sequence() = default;

  // Tokens that it can hold.
  virtual size_t capacity() const = 0;
  // Keeps of what is evaluated the beginning that `tokens` have, too, but for their last one, and forgets the rest.
  // Returns how many tokens that are. `reuse` false: forgets everything.
  virtual size_t Begin(std::span<const llama_token> tokens, bool reuse) = 0;
  // Evaluates these behind the others, no more than there is room for, and chooses the token that follows. Throws
  // WASINN_TIMEOUT where it was cancelled; after any error nothing is held any more.
  virtual llama_token Next(std::span<const llama_token> tokens, Sampler* sampler) = 0;
  // No more tokens follow. What is held stays, for the next Begin.
  virtual void End() = 0;
};

// The length of what both begin with.
inline size_t CommonBeginning(std::span<const llama_token> a, std::span<const llama_token> b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_SEQUENCE_H_
