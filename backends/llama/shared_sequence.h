// A conversation that is decoded together with others.
#ifndef WASINN_BACKENDS_LLAMA_SHARED_SEQUENCE_H_
#define WASINN_BACKENDS_LLAMA_SHARED_SEQUENCE_H_

#include <algorithm>
#include <optional>
#include <vector>

#include "llama/batcher.h"
#include "llama/sequence.h"

namespace wasinn::llama {

// It holds a place of the batcher's from Begin to End, but while it was taken back for others: then it waits for one
// again, and has its tokens evaluated once more.
class SharedSequence : public Sequence {
 public:
  // `guest`: whose it is, or NULL.
  SharedSequence(Batcher* batcher, const void* guest, size_t capacity, bool recurrent, const backend::CancelGate& gate)
      : batcher_(batcher),
        holder_(batcher->NewHolder(guest)),
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
    lease_ = batcher_->Acquire(holder_, tokens, reuse, recurrent_, gate_);
    const size_t kept = lease_->kept;
    tokens_.assign(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(kept));
    return kept;
  }

  llama_token Next(std::span<const llama_token> tokens, Sampler* sampler) override {
    constexpr bool kReuse = true;
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    // NOLINTBEGIN(bugprone-unchecked-optional-access): Begin came first
    while (!batcher_->Evaluate(*lease_, tokens_, sampler, gate_)) {
      lease_ = batcher_->Acquire(holder_, tokens_, kReuse, recurrent_, gate_);
    }
    lease_->kept = tokens_.size();
    // NOLINTEND(bugprone-unchecked-optional-access)
    return sampler->Choose(gate_);
  }

  void End() override {
    if (lease_) batcher_->Release(*lease_);
    lease_.reset();
  }

 private:
  Batcher* const batcher_;
  const Batcher::Holder holder_;
  const size_t capacity_;
  const bool recurrent_;
  const backend::CancelGate& gate_;
  std::optional<Batcher::Lease> lease_;
  std::vector<llama_token> tokens_;  // that are evaluated, and those that are to be
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_SHARED_SEQUENCE_H_
