// The clock for deadlines and waits.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace wasinn::core {

using SteadyClock = std::chrono::steady_clock;

// The system's steady clock, or one that a test sets.
class Clock {
 public:
  using duration = SteadyClock::duration;
  using time_point = SteadyClock::time_point;

  // Time stands still until Turn. The hands outlive the clock.
  class Hands {
   public:
    void Turn(duration by) { ticks_.fetch_add(by.count(), std::memory_order_relaxed); }
    time_point now() const { return time_point(duration(ticks_.load(std::memory_order_relaxed))); }

   private:
    std::atomic<duration::rep> ticks_{SteadyClock::now().time_since_epoch().count()};
  };

  Clock() = default;
  explicit Clock(const Hands& hands) : hands_(&hands) {}

  time_point now() const { return hands_ == nullptr ? SteadyClock::now() : hands_->now(); }

  // Waits until a notification or the time. It may also return without either, so the caller must check.
  void Wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, time_point until) const {
    if (hands_ != nullptr) {
      changed.wait_for(lock, std::chrono::milliseconds(1));  // turning the hands sends no notification
    } else if (until == time_point::max()) {
      changed.wait(lock);
    } else {
      changed.wait_until(lock, until);
    }
  }

 private:
  const Hands* hands_ = nullptr;
};

}  // namespace wasinn::core
