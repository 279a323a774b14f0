// Cancels an inference whose client has gone.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace wasinn::serve {

// Thread-safe.
class Cancellation {
 public:
  void Cancel() {
    const std::lock_guard lock(mutex_);
    is_cancelled_.store(true, std::memory_order_relaxed);
    if (stop_) std::exchange(stop_, nullptr)();
  }
  bool is_cancelled() const { return is_cancelled_.load(std::memory_order_relaxed); }

  // While it lives, a cancel calls `stop`, which must not block; an earlier cancel calls it at once. NULL: no cancels.
  class Stop {
   public:
    Stop(Cancellation* cancellation, std::function<void()> stop) : cancellation_(cancellation) {
      if (cancellation_ == nullptr) return;
      const std::lock_guard lock(cancellation_->mutex_);
      if (cancellation_->is_cancelled()) {
        stop();
      } else {
        cancellation_->stop_ = std::move(stop);
      }
    }
    ~Stop() {
      if (cancellation_ == nullptr) return;
      const std::lock_guard lock(cancellation_->mutex_);
      cancellation_->stop_ = nullptr;
    }
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;

   private:
    Cancellation* const cancellation_;
  };

 private:
  std::mutex mutex_;  // guards `stop_`, and is held while it is called
  std::function<void()> stop_;
  std::atomic<bool> is_cancelled_{false};
};

}  // namespace wasinn::serve
