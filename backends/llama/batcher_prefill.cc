// Long prompts beside those who generate: in a llama context of their own, by turns with their tokens.
#include <algorithm>
#include <exception>
#include <utility>

#include "llama/batcher.h"
#include "llama/log_scope.h"

namespace wasinn::llama {

namespace {

// A prompt of no more tokens is evaluated at once with the others' tokens: that is quicker for all, and soon over.
constexpr size_t kLong = 128;
// After so many tokens of one long prompt, the next one has its turn.
constexpr size_t kTurn = 256;

}  // namespace

bool Batcher::NeedsPrefill(const Model& model, const Settings& settings, uint32_t places) {
  return places > 1 && settings.context > kLong && !model.on_gpu();
}

bool Batcher::IsLong(const Place& place) {
  if (place.Left() < 2 || place.evaluation->work.media != nullptr) return false;
  return place.evaluation->work.tokens.size() - place.evaluation->begun > kLong;
}

bool Batcher::IsForPrefill(const Place& place) const {
  return prefill_ != nullptr && IsLong(place) && (prefilled_ != nullptr || IsAnyHeldUp());
}

// One that has begun goes on when nobody generates any more.
Batcher::Place* Batcher::NextPrefill() {
  if (prefill_ == nullptr || (prefilled_ == nullptr && !IsAnyHeldUp())) return nullptr;
  if (prefilled_ != nullptr && (in_turn_ < kTurn || std::ranges::count_if(places_, IsLong) < 2)) return prefilled_;
  if (prefilled_ != nullptr) EndPrefill();
  for (size_t i = 0; i < places_.size(); ++i) {
    prefill_place_ = (prefill_place_ + 1) % places_.size();
    Place& place = places_[prefill_place_];
    if (IsLong(place) && place.evaluation->kept) return &place;
  }
  return nullptr;
}

PrefillContext::Stream Batcher::StreamOf(const Place& place) const {
  return {context_.get(), static_cast<uint32_t>(&place - places_.data()), static_cast<uint32_t>(places_.size())};
}

// What is evaluated of its text.
void Batcher::BeginPrefill(Place* place) {
  prefilled_ = place;
  in_turn_ = 0;
  prefill_->Clear();
  if (place->evaluation->done == 0) return;
  prefill_->Take(StreamOf(*place));
}

void Batcher::EndPrefill() {
  Place* const place = std::exchange(prefilled_, nullptr);
  Evaluation& call = *place->evaluation;
  try {
    prefill_->Give(StreamOf(*place));
    const size_t held = place->held.tokens.size();
    place->held.Add(call.work.tokens.subspan(held, call.done - held), {});
  } catch (...) {
    Finish(place, std::current_exception());
  }
}

// A part of its tokens but for the last one, which goes into a batch with those of the others.
void Batcher::Prefill(Place* place, std::unique_lock<std::mutex>* lock) {
  Evaluation& call = *place->evaluation;
  const auto part = call.work.tokens.subspan(call.done, prefill_->PartOf(place->Left() - 1));
  std::exception_ptr error;
  try {
    const LogScope scope(model_.host().log(), false);
    if (place != prefilled_) BeginPrefill(place);
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
    if (!place->wanted && place->Left() == 1) EndPrefill();
    if (!place->wanted) return;
  }
  prefilled_ = nullptr;
  Finish(place, error);
}

// A long prompt has as much time as a token of those who generate, and more where more such prompts wait than generate.
void Batcher::GiveWay(Clock::duration next) {
  if (Clock::now() + next < slice_end_) return;
  std::unique_lock lock(mutex_);
  AwaitExpected(&lock);
  const bool has_decoded = Decode(&lock);
  done_.notify_all();
  if (!has_decoded) return;
  const auto prompts = static_cast<double>(std::ranges::count_if(places_, IsLong));
  const double share = std::max(1.0, prompts / static_cast<double>(std::max<size_t>(generating_, 1)));
  slice_end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(share * step_);
}

}  // namespace wasinn::llama
