// A conversation in which a small model drafts the next tokens, and the model checks several at a time.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "llama/own_sequence.h"

namespace wasinn::llama {

// The sampler chooses each token from the model's own logits, as without a draft: a drafted token counts only if it is
// the chosen one. So the draft never changes the tokens, also with a seed. The small model takes no images or sounds:
// after these nothing is drafted.
class DraftedSequence : public OwnSequence {
 public:
  // Like OwnSequence, for a model with a draft. The guest also pays for the draft's llama context.
  DraftedSequence(const Model& model, const Settings& settings, uint64_t max_bytes, void* account,
                  const std::atomic<bool>& cancelled);

  Begun Begin(std::span<const llama_token> tokens, MediaPrompt* media, bool reuse, const State* state) override;
  llama_token Next(std::span<const llama_token> tokens, Sampler* sampler) override;
  void Shift(size_t kept, size_t discarded) override;
  StatePtr Save(backend::Reservation reservation) override;
  void End() override;
  DraftCounts draft_counts() const override { return counts_; }

 private:
  // Removes tokens that were not handed out.
  void DropReady();
  // A draft of the tokens after the held ones and `next`.
  std::vector<llama_token> Guess(llama_token next);

  const Model& draft_model_;
  OwnSequence draft_;
  std::deque<llama_token> ready_;  // chosen and, except the last one, held
  DraftCounts counts_;
};

}  // namespace wasinn::llama
