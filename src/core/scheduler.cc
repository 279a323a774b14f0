#include "core/scheduler.h"

#include <algorithm>

namespace wasinn::core {

bool Scheduler::Wait(const Share& share, Waiter& waiter) {
  {
    const std::lock_guard lock(mutex_);
    // Where other threads of the guest are, if any wait.
    const auto other = std::ranges::find(waiting_, &share, &Waiter::share_);
    waiter.place_ = other == waiting_.end() ? order_.Arrive(share) : (*other)->place_;
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
  RestIfEmpty();
  return false;
}

void Scheduler::RestIfEmpty() {
  if (!waiting_.empty()) return;
  order_.Rest();
  state_.fetch_and(~kSomeoneWaits, std::memory_order_acq_rel);
}

void Scheduler::HandOver() {
  const std::lock_guard lock(mutex_);
  GivePlace();
}

// A place that is counted as taken, to whoever is next; or back, if all who wait have been cancelled.
void Scheduler::GivePlace() {
  std::ranges::stable_sort(waiting_, {}, &Waiter::place_);
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
  const FairOrder::Place behind = order_.Serve(*waiter->share_, waiter->place_);
  for (Waiter* const other : waiting_) {
    if (other->share_ == waiter->share_) other->place_ = behind;
  }
  RestIfEmpty();
  waiter->state_.notify_one();
}

}  // namespace wasinn::core
