// A conversation of which a small model guesses the next tokens, and the model checks several at once.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "llama/own_sequence.h"

namespace wasinn::llama {

// Each token is chosen by the sampler from the model's own logits, as without guesses: a guess counts only if it is the
// token that is chosen. So the tokens are those of the model, with the same seed the same ones, whatever is guessed. The
// small model sees no images and hears no sounds: behind these nothing is guessed.
class DraftedSequence : public OwnSequence {
 public:
  // As OwnSequence, for a model with a draft, whose llama context the guest pays for, too.
  DraftedSequence(const Model& model, const Settings& settings, uint64_t max_bytes, void* account,
                  const std::atomic<bool>& cancelled);

  Begun Begin(std::span<const llama_token> tokens, MediaPrompt* media, bool reuse, const State* state) override;
  llama_token Next(std::span<const llama_token> tokens, Sampler* sampler) override;
  void Shift(size_t kept, size_t discarded) override;
  StatePtr Save(backend::Reservation reservation) override;
  void End() override;
  DraftCounts draft_counts() const override { return counts_; }

 private:
  // Holds no more than what was handed out.
  void DropReady();
  // What may follow the tokens that are held, and this one.
  std::vector<llama_token> Guess(llama_token next);

  const Model& draft_model_;
  OwnSequence draft_;
  std::deque<llama_token> ready_;  // chosen and, but for the last one, held
  DraftCounts counts_;
};

}  // namespace wasinn::llama
