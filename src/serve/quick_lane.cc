#include "serve/quick_lane.h"

#include <utility>

namespace wasinn::serve {
namespace {

// Of what is quick none takes longer: repository.cc.
constexpr std::chrono::milliseconds kQuick{1};
constexpr size_t kMostBehind = 64;

}  // namespace

bool QuickLane::IsMoving() const { return Clock::now() - last_begun_ < kQuick; }

bool QuickLane::Run(Workers::Job job) {
  std::list<Workers::Job> mine;  // whose nodes move without an allocation
  mine.push_back(std::move(job));
  std::unique_lock lock(mutex_);
  if (n_running_ == most_) {
    if (waiting_.size() < kMostBehind && IsMoving()) {
      waiting_.splice(waiting_.end(), mine);
      return true;
    }
    lock.unlock();
    return workers_.Begin(std::move(mine.front()));
  }
  for (++n_running_; !mine.empty(); mine.splice(mine.end(), waiting_, waiting_.begin())) {
    last_begun_ = Clock::now();
    lock.unlock();
    mine.front().run();
    mine.clear();
    lock.lock();
    if (waiting_.empty()) break;
  }
  --n_running_;
  return true;
}

void QuickLane::Sweep() {
  std::list<Workers::Job> stuck;
  {
    const std::lock_guard lock(mutex_);
    if (!IsMoving()) stuck.swap(waiting_);
  }
  for (Workers::Job& job : stuck) {
    if (!workers_.Begin(job)) job.refuse(Workers::TooMany());
  }
}

}  // namespace wasinn::serve
