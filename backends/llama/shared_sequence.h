// A conversation that is decoded together with others.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "llama/batcher.h"
#include "llama/sequence.h"

namespace wasinn::llama {

// Holds a slot of the batcher from Begin to End. If the slot is taken back for others, it waits for another one, and
// evaluates its tokens again.
class SharedSequence : public Sequence {
 public:
  // `guest`: its owner, or NULL.
  SharedSequence(Batcher* batcher, const void* guest, size_t capacity, bool recurrent,
                 const std::atomic<bool>& cancelled)
      : batcher_(batcher),
        holder_(batcher->NewHolder(guest)),
        capacity_(std::min(capacity, batcher->capacity())),
        recurrent_(recurrent),
        cancelled_(cancelled) {}
  ~SharedSequence() override {
    End();
    batcher_->Forget(holder_);
  }
  SharedSequence(const SharedSequence&) = delete;
  SharedSequence& operator=(const SharedSequence&) = delete;

  size_t capacity() const override { return capacity_; }
  size_t most_at_once() const override { return batcher_->batch_size(); }
  StateKind kind() const override { return batcher_->kind(); }

  // In its slot, or after waiting for one.
  Begun Begin(std::span<const llama_token> tokens, MediaPrompt* media, bool reuse, const State* state) override {
    if (media_ != nullptr) End();  // tokens of images do not identify the image
    media_ = media;
    if (lease_) {
      lease_->kept = reuse ? Usable(tokens) : 0;
    } else {
      lease_ = batcher_->Acquire(holder_, {tokens, Spans(media)}, reuse, recurrent_, cancelled_);
    }
    Batcher::Lease& lease = *lease_;
    const size_t usable = state == nullptr ? 0 : state->held.Usable(tokens, Spans(media));
    // If the slot is lost meanwhile, the tokens are evaluated.
    const bool is_restored = usable > lease.kept && batcher_->Load(lease, *state, cancelled_);
    if (is_restored) lease.kept = usable;
    tokens_.assign(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(lease.kept));
    return {lease.kept, is_restored};
  }

  llama_token Next(std::span<const llama_token> tokens, Sampler* sampler) override {
    Evaluate(tokens, sampler, 1);
    return sampler->Choose();
  }

  void Evaluate(std::span<const llama_token> tokens, LogitsTaker* taker, size_t /*rows*/) override {
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    EvaluateRest(taker);
  }

  bool can_shift() const override { return batcher_->can_shift(); }

  void Shift(size_t kept, size_t discarded) override {
    const auto from = tokens_.begin() + static_cast<ptrdiff_t>(kept);
    tokens_.erase(from, from + static_cast<ptrdiff_t>(discarded));
    // Done by the next evaluation, because only the batcher's thread changes the memory.
    shift_ = {.kept = kept, .discarded = discarded};
    lease_->kept = tokens_.size();  // NOLINT(bugprone-unchecked-optional-access): Begin was called
  }

  StatePtr Save(backend::Reservation reservation) override {
    State state{.reservation = std::move(reservation), .kind = kind(), .held = {}, .bytes = {}};
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): Begin was called
    while (!batcher_->Save(*lease_, &state, cancelled_)) EvaluateRest(nullptr);
    return std::make_shared<const State>(std::move(state));
  }

  void Rest() override {
    if (lease_) batcher_->Rest(*lease_);
  }

  void End() override {
    if (lease_) batcher_->Release(*lease_);
    lease_.reset();
    shift_ = {};
    media_ = nullptr;
  }

 private:
  // The number of tokens that are evaluated in its slot.
  size_t Usable(std::span<const llama_token> tokens) const {
    const size_t usable = std::min(CommonBeginning(tokens_, tokens), tokens.size() - 1);
    return recurrent_ && usable != tokens_.size() ? 0 : usable;
  }

  // Evaluates all remaining tokens. `taker` gets the last one's logits; may be NULL.
  void EvaluateRest(LogitsTaker* taker) {
    constexpr bool kReuse = true;
    // NOLINTBEGIN(bugprone-unchecked-optional-access): Begin was called
    Encode();
    while (!batcher_->Evaluate(*lease_, {.tokens = tokens_, .media = media_, .taker = taker, .shift = shift_},
                               cancelled_)) {
      lease_ = batcher_->Acquire(holder_, {tokens_, Spans(media_)}, kReuse, recurrent_, cancelled_);
      shift_ = {};
      Encode();
    }
    lease_->kept = tokens_.size();
    // NOLINTEND(bugprone-unchecked-optional-access)
    shift_ = {};
  }

  // On this thread, because all sequences share the batcher's.
  void Encode() {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): Begin was called
    if (media_ != nullptr) media_->Encode(lease_->kept, cancelled_);
  }

  Batcher* const batcher_;
  const Batcher::Holder holder_;
  const size_t capacity_;
  const bool recurrent_;
  const std::atomic<bool>& cancelled_;
  std::optional<Batcher::Lease> lease_;
  MediaPrompt* media_ = nullptr;     // of the prompt
  Batcher::Shift shift_;             // done by the next evaluation
  std::vector<llama_token> tokens_;  // evaluated ones, followed by the rest
};

}  // namespace wasinn::llama
