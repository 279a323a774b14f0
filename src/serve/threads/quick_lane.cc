#include "serve/threads/quick_lane.h"

#include <thread>
#include <utility>

namespace wasinn::serve {
namespace {

// No quick compute takes longer: repository.cc.
constexpr std::chrono::milliseconds kQuick{1};
constexpr size_t kMostBehind = 64;

}  // namespace

bool QuickLane::IsMoving() const { return Clock::now() - last_begun_ < kQuick; }

bool QuickLane::Run(Workers::Job job) {
  const Share& share = *job.share;
  const bool is_alone = share.is_alone();
  auto mine = FairQueue<Workers::Job>::Make(std::move(job));
  std::unique_lock lock(mutex_);
  if (n_running_ == most_) {
    if (waiting_.size() < kMostBehind && IsMoving()) {
      waiting_.Push(std::move(mine), share);
      return true;
    }
    lock.unlock();
    return workers_.Begin(std::move(mine.mapped().value));
  }
  for (++n_running_;; mine = waiting_.PopFirst()) {
    last_begun_ = Clock::now();
    lock.unlock();
    mine.mapped().value.run();
    mine = {};
    // Lets other threads read new requests, even on the same processor: it may be another tenant's turn.
    if (!is_alone) std::this_thread::yield();
    lock.lock();
    if (waiting_.empty()) break;
  }
  --n_running_;
  return true;
}

void QuickLane::Sweep() {
  FairQueue<Workers::Job>::Items stuck;
  {
    const std::lock_guard lock(mutex_);
    while (!waiting_.empty() && !IsMoving()) stuck.insert(waiting_.PopFirst());
  }
  for (auto& [place, item] : stuck) {
    if (Workers::Job& job = item.value; !workers_.Begin(job)) job.refuse(Workers::TooMany());
  }
}

}  // namespace wasinn::serve
