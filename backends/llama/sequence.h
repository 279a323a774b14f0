// Evaluates the tokens of one conversation.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "llama/media_prompt.h"
#include "llama/sampler.h"
#include "llama/state.h"

namespace wasinn::llama {

// Used by one thread at a time.
class Sequence {
 public:
  virtual ~Sequence() = default;

  // The most tokens that it can hold, and that can see each other (an image's in some models).
  virtual size_t capacity() const = 0;
  virtual size_t most_at_once() const = 0;
  virtual StateKind kind() const = 0;
  // Keeps the evaluated tokens that `tokens` begin with, except the last, and forgets the rest. If `state`, which may
  // be NULL, has more of them, uses that. `reuse` false: forgets everything. `media`: of the tokens, used until the
  // end, or NULL.
  struct Begun {
    size_t kept = 0;  // tokens
    bool is_restored = false;
  };
  virtual Begun Begin(std::span<const llama_token> tokens, MediaPrompt* media, bool reuse, const State* state) = 0;
  // Evaluates these tokens after the held ones, no more than fit, and chooses the next token. Throws
  // WASINN_ERROR_TIMEOUT if cancelled; after any error nothing is held.
  virtual llama_token Next(std::span<const llama_token> tokens, Sampler* sampler) = 0;
  // The same without choosing. `taker`, which may be NULL, gets the logits of the last `rows` tokens, in order. A
  // shared sequence only supports one row.
  virtual void Evaluate(std::span<const llama_token> tokens, LogitsTaker* taker, size_t rows) = 0;
  virtual bool can_shift() const = 0;
  // Discards `discarded` tokens after the first `kept`, and moves later ones there.
  virtual void Shift(size_t kept, size_t discarded) = 0;
  // The held tokens. `reservation`: pays for them.
  virtual StatePtr Save(backend::Reservation reservation) = 0;
  // More tokens may follow soon, but others need not wait long for them.
  virtual void Rest() = 0;
  // Since Begin, for a model with a draft: drafted tokens, and those of them that were chosen.
  struct DraftCounts {
    uint64_t drafted = 0, accepted = 0;
  };
  virtual DraftCounts draft_counts() const { return {}; }
  // No more tokens follow. The held ones stay for the next Begin.
  virtual void End() = 0;
};

}  // namespace wasinn::llama
