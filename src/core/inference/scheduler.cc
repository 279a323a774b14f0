#include "core/inference/scheduler.h"

#include <utility>

namespace wasinn::core {

// Done once for each context, which then knows where its account is counted.
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

bool Scheduler::Wait(const Share& share, Waiter& waiter, Count& count, Count* of_model) {
  {
    const std::lock_guard lock(mutex_);
    // The place of other threads of the guest, if any wait.
    const auto other = std::ranges::find(waiting_, &share, &Waiter::share_);
    waiter.place_ = other == waiting_.end() ? order_.Arrive(share) : (*other)->place_;
    waiter.share_ = &share;
    waiter.count_ = &count;
    waiter.of_model_ = of_model;
    waiter.beyond_ = false;
    waiting_.push_back(&waiter);
    waiter.state_.store(Waiter::kWaiting, std::memory_order_release);
    // From here on threads that leave hand over, and no other thread comes in. But there may be places: one that was
    // left a moment ago, or those that another account must leave.
    state_.fetch_or(kSomeoneWaits, std::memory_order_acq_rel);
    GivePlaces(of_model);
  }
  waiter.state_.wait(Waiter::kWaiting, std::memory_order_acquire);
  const std::lock_guard lock(mutex_);  // the thread that let it in is done with it
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

void Scheduler::HandOver(const Count* of_model) {
  const std::lock_guard lock(mutex_);
  state_.fetch_sub(1, std::memory_order_acq_rel);
  GivePlaces(of_model);
}

// A thread that sets the mark after this look sees all earlier changes itself.
void Scheduler::LetOthersIn(const Count* of_model) {
  if ((state_.fetch_add(0, std::memory_order_acq_rel) & kSomeoneWaits) == 0) return;
  const std::lock_guard lock(mutex_);
  GivePlaces(of_model);
}

// Gives all free places, and one more if this model has none.
void Scheduler::GivePlaces(const Count* of_model) {
  const auto may_have_one = [&] { return running() < most_ || (of_model != nullptr && *of_model == 0); };
  while (!waiting_.empty() && may_have_one() && GivePlace()) {
  }
}

bool Scheduler::MayHaveOne(const Waiter& waiter) const {
  if (waiter.state_.load(std::memory_order_relaxed) != Waiter::kWaiting) return false;
  return (running() < most_ && *waiter.count_ < of_one_) || (waiter.of_model_ != nullptr && *waiter.of_model_ == 0);
}

// The waiter after `last`, by place, then by arrival, of those that may have a place; end() is behind the last one and
// before the first.
Scheduler::Waiters::iterator Scheduler::NextAfter(Waiters::iterator last) {
  const auto is_before = [](auto one, auto other) {
    return (*one)->place_ != (*other)->place_ ? (*one)->place_ < (*other)->place_ : one < other;
  };
  auto next = waiting_.end();
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    const bool follows = last == waiting_.end() || is_before(last, it);
    if (follows && (next == waiting_.end() || is_before(it, next)) && MayHaveOne(**it)) next = it;
  }
  return next;
}

// False: another thread of its account or a compute of its model was quicker, or it was cancelled.
bool Scheduler::TryGive(Waiter& waiter) {
  const bool of_host = running() < most_ && TryCount(*waiter.count_);
  if (!of_host && !TryBeyond(waiter.of_model_)) return false;
  waiter.beyond_ = !of_host;
  uint32_t waiting = Waiter::kWaiting;
  if (waiter.state_.compare_exchange_strong(waiting, Waiter::kTurn, std::memory_order_acq_rel)) return true;
  (of_host ? waiter.count_ : waiter.of_model_)->fetch_sub(1, std::memory_order_acq_rel);
  return false;
}

// Gives one place to the first waiter that may have it. False: there is none.
bool Scheduler::GivePlace() {
  auto next = NextAfter(waiting_.end());
  while (next != waiting_.end() && !TryGive(**next)) next = NextAfter(next);
  if (next == waiting_.end()) return false;
  Waiter* const waiter = *next;
  if (!waiter->beyond_) {
    state_.fetch_add(1, std::memory_order_acq_rel);
    CountModel(waiter->of_model_);
  }
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
