#include "core/models/single_flight.h"

#include <algorithm>

namespace wasinn::core {

std::chrono::milliseconds WaitOptions::left() const {
  if (deadline.count() == 0) return deadline;
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(clock().now() - since);
  return std::max(deadline - waited, std::chrono::milliseconds(1));
}

bool WaitOptions::is_over() const {
  if (stop != nullptr && stop->load(std::memory_order_acquire)) return true;
  return deadline.count() > 0 && clock().now() - since >= deadline;
}

void Attempt::End(Status failure) {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    failure_ = std::move(failure);
  }
  changed_.notify_all();
}

Status Attempt::Wait(const WaitOptions& wait, const std::string& what) {
  if (wait.watchdog != nullptr && (wait.deadline.count() > 0 || wait.stop != nullptr)) {
    return WaitWatched(wait, what);
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_; });
  return Copy(failure_);
}

Status Attempt::WaitWatched(const WaitOptions& wait, const std::string& what) {
  RETURN_IF_ERROR(wait.watchdog->Start());
  bool enough = false;  // guarded by mutex_
  const auto give_up = [this, &enough] {
    {
      const std::lock_guard lock(mutex_);
      enough = true;
    }
    changed_.notify_all();
  };
  Watched waiting(*wait.watchdog, wait.left(), give_up, wait.stop);
  Watched::Run run(waiting);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, &enough] { return ended_ || enough; });
  const bool ended = ended_;
  Status failure = ended ? Copy(failure_) : Status();
  lock.unlock();  // the run's end may wait for give_up
  const bool overdue = run.End();
  if (ended) return failure;
  if (!overdue)
    return Error(WASINN_ERROR_TIMEOUT, "{} is still being loaded for another guest: this one is being closed", what);
  return Error(WASINN_ERROR_TIMEOUT, "{} was still being loaded for another guest after {} ms", what,
               wait.deadline.count());
}

}  // namespace wasinn::core
