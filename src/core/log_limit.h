// How much somebody may log who is not trusted with it: frameworks, which warn as often as a guest's model lets them.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace wasinn::core {

// Some lines at once, and then one a second. Any thread.
class LogLimit {
 public:
  static constexpr double kAtOnce = 100, kPerSecond = 1;

  // Whether a line may be written now; if so, `left_out` is how many could not since the last one.
  bool Allow(uint64_t& left_out) {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    lines_ += std::chrono::duration<double>(now - last_).count() * kPerSecond;
    if (lines_ > kAtOnce) lines_ = kAtOnce;
    last_ = now;
    if (lines_ < 1) {
      ++left_out_;
      return false;
    }
    lines_ -= 1;
    left_out = left_out_;
    left_out_ = 0;
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  Clock::time_point last_ = Clock::now();
  double lines_ = kAtOnce;
  uint64_t left_out_ = 0;
};

}  // namespace wasinn::core
