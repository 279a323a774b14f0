#include "core/scheduler.h"

#include <utility>

namespace wasinn::core {

// Once for each context: it then knows where its account is counted.
Scheduler::Count& Scheduler::LookUp(const Share& share, Waiter& waiter) {
  const std::lock_guard lock(mutex_);
  if (counts_.size() >= look_at_) {
    std::erase_if(counts_, [](const auto& one) { return one.second.use_count() == 1 && *one.second == 0; });
    look_at_ = std::max<size_t>(64, 2 * counts_.size());
  }
  std::shared_ptr<Count>& count = counts_[share.account()];
  if (count == nullptr) count = std::make_shared<Count>(0);
  waiter.known_[0] = std::exchange(waiter.known_[1], {this, share.account(), count});
  return *count;
}

bool Scheduler::Wait(const Share& share, Waiter& waiter, Count& count) {
  {
    const std::lock_guard lock(mutex_);
    // Where other threads of the guest are, if any wait.
    const auto other = std::ranges::find(waiting_, &share, &Waiter::share_);
    waiter.place_ = other == waiting_.end() ? order_.Arrive(share) : (*other)->place_;
    waiter.share_ = &share;
    waiter.count_ = &count;
    waiting_.push_back(&waiter);
    waiter.state_.store(Waiter::kWaiting, std::memory_order_release);
    // From here on threads that leave hand over, and nobody else comes in. But there may be places: one that was left a moment ago,
    // or those that another account must leave.
    state_.fetch_or(kSomeoneWaits, std::memory_order_acq_rel);
    GivePlaces();
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
  state_.fetch_sub(1, std::memory_order_acq_rel);
  GivePlaces();
}

void Scheduler::GivePlaces() {
  while (!waiting_.empty() && running() < most_ && GivePlace()) {
  }
}

// Gives one place to the next thread whose account may have one more. False: there is none, or all have been cancelled.
bool Scheduler::GivePlace() {
  std::ranges::stable_sort(waiting_, {}, &Waiter::place_);
  const auto next = std::ranges::find_if(waiting_, [this](Waiter* waiter) {
    if (!TryCount(*waiter->count_)) return false;
    uint32_t waiting = Waiter::kWaiting;
    if (waiter->state_.compare_exchange_strong(waiting, Waiter::kTurn, std::memory_order_acq_rel)) return true;
    waiter->count_->fetch_sub(1, std::memory_order_acq_rel);
    return false;
  });
  if (next == waiting_.end()) return false;
  state_.fetch_add(1, std::memory_order_acq_rel);
  Waiter* const waiter = *next;
  waiting_.erase(next);
  const FairOrder::Place behind = order_.Serve(*waiter->share_, waiter->place_);
  for (Waiter* const other : waiting_) {
    if (other->share_ == waiter->share_) other->place_ = behind;
  }
  RestIfEmpty();
  waiter->state_.notify_one();
  return true;
}

}  // namespace wasinn::core
