// A conversation that is decoded together with others.
#ifndef WASINN_BACKENDS_LLAMA_SHARED_SEQUENCE_H_
#define WASINN_BACKENDS_LLAMA_SHARED_SEQUENCE_H_

#include <algorithm>
#include <optional>

#include "llama/batcher.h"
#include "llama/sequence.h"

namespace wasinn::llama {

// It holds a place of the batcher's from Begin to End.
class SharedSequence : public Sequence {
 public:
  SharedSequence(Batcher* batcher, size_t capacity, bool recurrent, const backend::CancelGate& gate)
      : batcher_(batcher),
        holder_(batcher->NewHolder()),
        capacity_(std::min(capacity, batcher->capacity())),
        recurrent_(recurrent),
        gate_(gate) {}
  ~SharedSequence() override {
    End();
    batcher_->Forget(holder_);
  }
  SharedSequence(const SharedSequence&) = delete;
  SharedSequence& operator=(const SharedSequence&) = delete;

  size_t capacity() const override { return capacity_; }

  size_t Begin(std::span<const llama_token> tokens, bool reuse) override {
    End();
    const size_t place = batcher_->Acquire(holder_, gate_);
    place_ = place;
    const auto& held = batcher_->held(place);
    keep_ = reuse ? std::min(CommonBeginning(held, tokens), tokens.size() - 1) : 0;
    if (recurrent_ && keep_ != held.size()) keep_ = 0;
    return keep_;
  }

  llama_token Next(std::span<const llama_token> tokens, Sampler* sampler) override {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): Begin came first
    const llama_token token = batcher_->Next(*place_, keep_, tokens, sampler, gate_);
    keep_ += tokens.size();
    return token;
  }

  void End() override {
    if (place_) batcher_->Release(*place_);
    place_.reset();
  }

 private:
  Batcher* const batcher_;
  const uint64_t holder_;
  const size_t capacity_;
  const bool recurrent_;
  const backend::CancelGate& gate_;
  std::optional<size_t> place_;
  size_t keep_ = 0;
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_SHARED_SEQUENCE_H_
