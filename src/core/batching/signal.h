// Wakes a thread after a change.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/runtime/clock.h"

namespace wasinn::core {

// Any number of threads raise it, one waits. A thread that raises it must know that it still exists. Not
// std::binary_semaphore: with a deadline, GCC's library polls it, after pauses that grow to 64 ms.
class Signal {
 public:
  void Raise() {
    {
      const std::lock_guard lock(mutex_);
      raised_ = true;
    }
    changed_.notify_one();
  }
  // Waits until it is raised; returns at once if it was raised since the last wait.
  void WaitUntil(Clock::time_point until, const Clock& clock) {
    std::unique_lock lock(mutex_);
    while (!raised_ && clock.now() < until) clock.Wait(changed_, lock, until);
    raised_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool raised_ = false;
};

}  // namespace wasinn::core
