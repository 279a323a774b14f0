// A conversation with a llama context of its own.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/reservation.h"
#include "llama/media_batch.h"
#include "llama/model.h"
#include "llama/sequence.h"
#include "llama/threads.h"

namespace wasinn::llama {

// The memory of a llama context with these settings, without the model: the KV cache and the values of one evaluation.
// 0 `sequences` means 1.
uint64_t ContextBytes(const Model& model, const Settings& settings, uint32_t sequences);

// The parameters that all contexts share.
llama_context_params ContextParams(const Model& model, const Settings& settings);

// Whether tokens after discarded ones can move to their place, and the function that moves them.
bool CanShift(const Model& model, const CacheSettings& cache, llama_context* context);
void ShiftSequence(const LlamaLibrary& library, llama_memory_t memory, llama_seq_id sequence, size_t kept,
                   size_t discarded);

class OwnSequence : public Sequence {
 public:
  // Throws WASINN_ERROR_TOO_LARGE if the llama context needs more than `max_bytes`; 0: no limit. `account`: pays for
  // it. `cancelled`: ends running calls.
  OwnSequence(const Model& model, const Settings& settings, uint64_t max_bytes, void* account,
              const std::atomic<bool>& cancelled);

  size_t capacity() const override { return capacity_; }
  size_t most_at_once() const override { return library_.n_ubatch(context_.get()); }
  StateKind kind() const override { return {.is_shared = false, .cache = cache_, .adapters = adapters_}; }
  Begun Begin(std::span<const llama_token> tokens, MediaPrompt* media, bool reuse, const State* state) override;
  llama_token Next(std::span<const llama_token> tokens, Sampler* sampler) override;
  void Evaluate(std::span<const llama_token> tokens, LogitsTaker* taker, size_t rows) override;
  bool can_shift() const override { return can_shift_; }
  void Shift(size_t kept, size_t discarded) override;
  StatePtr Save(backend::Reservation reservation) override;
  void Rest() override {}
  void End() override { media_ = nullptr; }

  // Evaluates several texts of one length, and what they begin with in common once. `taker` gets the logits of the last
  // token of each, in order. At most as many texts as the settings have outputs; `state` may be NULL. For models that
  // are not recurrent.
  struct Evaluated {
    size_t tokens = 0;
    size_t restored = 0;  // of the state
  };
  Evaluated EvaluateBranches(std::span<const std::vector<llama_token>> texts, bool reuse, const State* state,
                             LogitsTaker* taker);

  // Switches to these adapters, and forgets tokens that were evaluated with others.
  void UseAdapters(const AdapterSettings& adapters);

  // The embedding of a text, normalized by that number; or the scores of a model that ranks texts, unchanged. For
  // settings with `embedding`.
  std::vector<float> Embed(std::span<const llama_token> tokens, int normalize);
  bool ranks() const { return library_.pooling_type(context_.get()) == LLAMA_POOLING_TYPE_RANK; }

 protected:
  const Model& model() const { return model_; }
  const std::atomic<bool>& cancelled() const { return cancelled_; }
  const Held& held() const { return held_; }
  // Forgets all tokens after the first `n`. False: the memory cannot, and everything is forgotten.
  [[nodiscard]] bool Cut(size_t n);

 private:
  static bool IsCancelled(void* self);
  void Forget();
  // Keeps the one of several texts that has most of `tokens`.
  void KeepOneBranch(std::span<const llama_token> tokens);
  // Gives each text a sequence of llama.cpp's that holds as much of its beginning as one of them does. Returns these.
  std::vector<size_t> PlaceBranches(std::span<const std::vector<llama_token>> texts);
  Held& HeldIn(size_t sequence) { return sequence == 0 ? held_ : branches_[sequence - 1]; }
  // Evaluates a part of `left`, which is text or one image or sound; returns its tokens. With `has_logits` text from
  // `wanted` on has logits.
  size_t EvaluateText(std::span<const llama_token> left, bool has_logits, size_t wanted);
  size_t EvaluateMedia(size_t span, std::span<const llama_token> left);
  void Decode(const llama_batch& batch);

  const Model& model_;
  const LlamaLibrary& library_;
  const std::atomic<bool>& cancelled_;
  const Threads threads_;
  backend::Reservation reservation_;  // destroyed after the llama context
  ContextPtr context_;
  const CacheSettings cache_;
  const size_t outputs_;  // the most tokens of a batch with logits
  std::vector<int8_t> has_logits_;
  size_t capacity_ = 0;
  bool can_shift_ = false;
  MediaBatch media_batch_;
  MediaPrompt* media_ = nullptr;           // of the prompt
  std::vector<llama_pos> positions_;       // of a batch
  Held held_;                              // the contents of the KV cache, of its first sequence
  std::vector<Held> branches_;             // and of others, after several texts at once
  std::map<std::string, float> adapters_;  // its adapters, and their scales
};

}  // namespace wasinn::llama
