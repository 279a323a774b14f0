// Where the tokens of one conversation are evaluated.
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

// One thread at a time.
class Sequence {
 public:
  virtual ~Sequence() = default;

  // Tokens that it can hold, and those that can see each other (an image's of some models).
  virtual size_t capacity() const = 0;
  virtual size_t most_at_once() const = 0;
  virtual StateKind kind() const = 0;
  // Keeps of what is evaluated the beginning that `tokens` have, too, but for their last one, and forgets the rest.
  // Where `state`, which may be NULL, has more of them, it is that of the state. `reuse` false: forgets everything.
  // `media`: of the tokens, used until the end, or NULL.
  struct Begun {
    size_t kept = 0;  // so many tokens
    bool is_restored = false;
  };
  virtual Begun Begin(std::span<const llama_token> tokens, MediaPrompt* media, bool reuse, const State* state) = 0;
  // Evaluates these behind the others, no more than there is room for, and chooses the token that follows. Throws
  // WASINN_ERROR_TIMEOUT where it was cancelled; after any error nothing is held any more.
  virtual llama_token Next(std::span<const llama_token> tokens, Sampler* sampler) = 0;
  // The same without choosing. `taker`, which may be NULL, gets the logits of the last `rows` of these tokens, in their
  // order. One that is decoded together with others has a single row.
  virtual void Evaluate(std::span<const llama_token> tokens, LogitsTaker* taker, size_t rows) = 0;
  virtual bool can_shift() const = 0;
  // Forgets `discarded` tokens behind the first `kept`: those behind them move there.
  virtual void Shift(size_t kept, size_t discarded) = 0;
  // What is held. `reservation`: who pays for it.
  virtual StatePtr Save(backend::Reservation reservation) = 0;
  // More may follow soon, and others need not wait long for it.
  virtual void Rest() = 0;
  // Of a model with a draft, since Begin: how many tokens that guessed, and how many of them are those that were chosen.
  struct DraftCounts {
    uint64_t drafted = 0, accepted = 0;
  };
  virtual DraftCounts draft_counts() const { return {}; }
  // No more tokens follow. What is held stays, for the next Begin.
  virtual void End() = 0;
};

}  // namespace wasinn::llama
