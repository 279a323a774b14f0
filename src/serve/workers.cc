#include "serve/workers.h"

#include <algorithm>
#include <new>

#include "serve/log.h"

namespace wasinn::serve {
namespace {

bool IsGone(const Workers::Job& job) { return job.cancellation != nullptr && job.cancellation->is_cancelled(); }

// A job that throws, for want of memory, must not end the others.
void Call(const auto& function, const auto&... arguments) {
  try {
    function(arguments...);
  } catch (const std::exception& error) {
    LogError(error.what());
  }
}

}  // namespace

Workers::Workers(const Limits& limits) : n_threads_(limits.threads), most_(limits.most), patience_(limits.patience) {
  for (size_t i = 0; i < limits.threads; ++i) threads_.emplace_back([this] { Serve(); });
}

bool Workers::Waiting::IsOver() const { return IsGone(job) || std::chrono::steady_clock::now() >= until; }

void Workers::Refuse(const Waiting& waiting) {
  Call(waiting.job.refuse, IsGone(waiting.job) ? Failure{WASINN_UNAVAILABLE, "nobody waits for it any more"}
                                               : TryAgain("it has waited for a thread for too long"));
}

void Workers::Refuse(const Queue::Items& items) {
  for (const auto& [place, item] : items) Refuse(item.value);
}

void Workers::TakeOver(Queue::Items& over) {
  waiting_.Remove([this](const Waiting& one) { return stopped_ || one.IsOver(); }, over);
}

// Whether it may have a thread now: the last quarter of them are for shares that have none.
bool Workers::MayRun(const Share& share) const {
  if (share.is_alone()) return true;
  const auto running = running_.find(share.id());
  const bool has_some = running != running_.end() && running->second > 0;
  return !has_some || n_running_ + std::max<size_t>(1, n_threads_ / 4) < n_threads_;
}

// Nothing: there is no need to, or no memory.
std::optional<uint64_t> Workers::Count(const Share& share) {
  if (share.is_alone()) return std::nullopt;
  try {
    ++running_[share.id()];
    return share.id();
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

bool Workers::Begin(Job job) {
  const Share& share = *job.share;
  Queue::Node one = Queue::Make({std::move(job), std::chrono::steady_clock::now() + patience_});
  Queue::Items over, displaced;
  bool begun = false;
  {
    const std::lock_guard lock(mutex_);
    if (IsFull()) TakeOver(over);
    if (IsFull()) displaced.insert(waiting_.PopLastFor(share));
    begun = !stopped_ && !IsFull();
    if (begun) waiting_.Push(std::move(one), share);
  }
  if (begun) wake_.notify_one();
  Refuse(over);
  for (const auto& [place, item] : displaced) Call(item.value.job.refuse, TooMany());
  return begun;
}

void Workers::Serve() {
  for (;;) {
    Queue::Node mine;
    std::optional<uint64_t> counted;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] {
        if (!mine) mine = waiting_.PopFirst([this](const Waiting& one) { return MayRun(*one.job.share); });
        return stopped_ || mine;
      });
      if (!mine) return;
      ++n_running_;
      counted = Count(*mine.mapped().value.job.share);
    }
    if (const Waiting& waiting = mine.mapped().value; waiting.IsOver()) {
      Refuse(waiting);
    } else {
      Call(waiting.job.run);
    }
    mine = {};  // what it holds goes before its place is another's
    const std::lock_guard lock(mutex_);
    --n_running_;
    if (counted && --running_[*counted] == 0) running_.erase(*counted);
  }
}

void Workers::Sweep() {
  Queue::Items over;
  {
    const std::lock_guard lock(mutex_);
    TakeOver(over);
  }
  Refuse(over);
}

Workers::Load Workers::Look() const {
  const std::lock_guard lock(mutex_);
  return {n_threads_, n_running_, waiting_.size()};
}

void Workers::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  Sweep();
  threads_.clear();  // waits for each
}

}  // namespace wasinn::serve
