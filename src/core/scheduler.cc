#include "core/scheduler.h"

#include <algorithm>

namespace wasinn::core {

bool Scheduler::Wait(const Share& share, Waiter& waiter) {
  {
    const std::lock_guard lock(mutex_);
    // A guest that comes is behind all who wait, or where its other threads are.
    const auto other = std::ranges::find(waiting_, &share, &Waiter::share_);
    waiter.since_ = other == waiting_.end() ? turns_ : (*other)->since_;
    waiter.share_ = &share;
    waiting_.push_back(&waiter);
    waiter.state_.store(Waiter::kWaiting, std::memory_order_release);
    // From here who leaves hands over, and nobody else comes in. But a place that was left a moment ago is free still.
    const uint32_t running = state_.fetch_or(kSomeoneWaits, std::memory_order_acq_rel) & ~kSomeoneWaits;
    if (running < most_) {
      state_.fetch_add(1, std::memory_order_acq_rel);
      GivePlace();
    }
  }
  waiter.state_.wait(Waiter::kWaiting, std::memory_order_acquire);
  const std::lock_guard lock(mutex_);  // and so whoever let it in has nothing to do with it any more
  if (waiter.state_.load(std::memory_order_acquire) == Waiter::kTurn) return true;
  std::erase(waiting_, &waiter);
  if (waiting_.empty()) state_.fetch_and(~kSomeoneWaits, std::memory_order_acq_rel);
  return false;
}

void Scheduler::HandOver() {
  const std::lock_guard lock(mutex_);
  GivePlace();
}

// A place that is counted as taken, to the one whose guest has waited for the longest time; or back, if all who wait
// have been cancelled.
void Scheduler::GivePlace() {
  std::ranges::stable_sort(waiting_, {}, &Waiter::since_);
  const auto next = std::ranges::find_if(waiting_, [](Waiter* waiter) {
    uint32_t waiting = Waiter::kWaiting;
    return waiter->state_.compare_exchange_strong(waiting, Waiter::kTurn, std::memory_order_acq_rel);
  });
  if (next == waiting_.end()) {
    state_.fetch_sub(1, std::memory_order_acq_rel);
    return;
  }
  Waiter* const waiter = *next;
  waiting_.erase(next);
  ++turns_;
  for (Waiter* const other : waiting_) {
    if (other->share_ == waiter->share_) other->since_ = turns_;
  }
  if (waiting_.empty()) state_.fetch_and(~kSomeoneWaits, std::memory_order_acq_rel);
  waiter->state_.notify_one();
}

}  // namespace wasinn::core
