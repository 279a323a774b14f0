// Long prompts: evaluated in a llama context of their own, by turns with generated tokens.
#include <algorithm>
#include <exception>
#include <utility>

#include "llama/batcher.h"
#include "llama/log_scope.h"

namespace wasinn::llama {

namespace {

// Shorter prompts are evaluated together with others' tokens, which is quicker and soon over.
constexpr size_t kLong = 128;
// After this many tokens of a long prompt, the next one has its turn.
constexpr size_t kTurn = 256;

}  // namespace

bool Batcher::NeedsPrefill(const Model& model, const Settings& settings, uint32_t slots) {
  return slots > 1 && settings.context > kLong && !model.on_gpu();
}

bool Batcher::IsLong(const Slot& slot) {
  if (slot.Left() < 2 || slot.evaluation->work.media != nullptr) return false;
  return slot.evaluation->work.tokens.size() - slot.evaluation->begun > kLong;
}

bool Batcher::IsForPrefill(const Slot& slot) const {
  return prefill_ != nullptr && IsLong(slot) && (prefilled_ != nullptr || IsAnyHeldUp());
}

// A prompt that was begun continues even if no slot generates any more.
Batcher::Slot* Batcher::NextPrefill() {
  if (prefill_ == nullptr || (prefilled_ == nullptr && !IsAnyHeldUp())) return nullptr;
  if (prefilled_ != nullptr && (in_turn_ < kTurn || std::ranges::count_if(slots_, IsLong) < 2)) return prefilled_;
  if (prefilled_ != nullptr) EndPrefill();
  for (size_t i = 0; i < slots_.size(); ++i) {
    prefill_slot_ = (prefill_slot_ + 1) % slots_.size();
    Slot& slot = slots_[prefill_slot_];
    if (IsLong(slot) && slot.evaluation->kept) return &slot;
  }
  return nullptr;
}

PrefillContext::Stream Batcher::StreamOf(const Slot& slot) const {
  return {context_.get(), static_cast<uint32_t>(&slot - slots_.data()), static_cast<uint32_t>(slots_.size())};
}

// Takes over the evaluated tokens of its text.
void Batcher::BeginPrefill(Slot* slot) {
  prefilled_ = slot;
  in_turn_ = 0;
  prefill_->Clear();
  if (slot->evaluation->done == 0) return;
  prefill_->Take(StreamOf(*slot));
}

void Batcher::EndPrefill() {
  Slot* const slot = std::exchange(prefilled_, nullptr);
  Evaluation& call = *slot->evaluation;
  try {
    prefill_->Give(StreamOf(*slot));
    const size_t held = slot->held.tokens.size();
    slot->held.Add(call.work.tokens.subspan(held, call.done - held), {});
  } catch (...) {
    Finish(slot, std::current_exception());
  }
}

// Evaluates a part of its tokens, except the last one, which joins others' in a batch.
void Batcher::Prefill(Slot* slot, std::unique_lock<std::mutex>* lock) {
  Evaluation& call = *slot->evaluation;
  const auto part = call.work.tokens.subspan(call.done, prefill_->PartOf(slot->Left() - 1));
  std::exception_ptr error;
  try {
    const LogScope scope(model_.host().log(), false);
    if (slot != prefilled_) BeginPrefill(slot);
    lock->unlock();
    const int failed = prefill_->Evaluate(part, *call.cancelled);
    lock->lock();
    if (failed != 0) error = ErrorOf(failed);
  } catch (...) {
    error = std::current_exception();
  }
  if (error == nullptr) {
    call.done += part.size();
    in_turn_ += part.size();
    if (!slot->wanted && slot->Left() == 1) EndPrefill();
    if (!slot->wanted) return;
  }
  prefilled_ = nullptr;
  Finish(slot, error);
}

// A long prompt gets the time of a decode, and more if more long prompts wait than slots generate.
void Batcher::GiveWay(Clock::duration next) {
  if (Clock::now() + next < slice_end_) return;
  std::unique_lock lock(mutex_);
  AwaitExpected(&lock);
  const bool has_decoded = Decode(&lock);
  done_.notify_all();
  if (!has_decoded) return;
  const auto prompts = static_cast<double>(std::ranges::count_if(slots_, IsLong));
  const double share = std::max(1.0, prompts / static_cast<double>(std::max<size_t>(generating_, 1)));
  slice_end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(share * step_);
}

}  // namespace wasinn::llama
