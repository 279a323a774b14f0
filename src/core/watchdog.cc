#include "core/watchdog.h"

namespace wasinn::core {

void Watched::Check(Clock::time_point now) {
  const uint64_t run = run_.load(std::memory_order_acquire);
  if (run % 2 == 0) return;
  if (run != seen_run_) {
    seen_run_ = run;
    seen_since_ = now;
  }
  const bool overdue = deadline_.count() > 0 && now - seen_since_ >= deadline_;
  if (overdue) overdue_run_.store(run, std::memory_order_release);
  if (overdue || cancelled()) cancel_();
}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (watched_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    for (Watched* watched : watched_) watched->Check(now);
    wake_.wait_for(lock, kScan);
  }
}

Watchdog::Watch::Watch(Watchdog& watchdog, Watched& watched) : watchdog_(watchdog) {
  std::lock_guard lock(watchdog_.mutex_);
  position_ = watchdog_.watched_.insert(watchdog_.watched_.end(), &watched);
  if (!watchdog_.thread_.joinable()) {
    watchdog_.thread_ = std::thread([&dog = watchdog_] { dog.Run(); });
  } else if (watchdog_.watched_.size() == 1) {
    watchdog_.wake_.notify_all();
  }
}

Watchdog::Watch::~Watch() {
  std::lock_guard lock(watchdog_.mutex_);
  watchdog_.watched_.erase(position_);
}

}  // namespace wasinn::core
