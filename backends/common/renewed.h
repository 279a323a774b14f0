// An object that the contexts of a model share until it is worn out, and is replaced.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace wasinn::backend {

// The first caller that finds it worn out makes the next one, on its own thread and under no lock; later callers wait
// for that, no longer than their own computes may take. Thread-safe.
template <typename T>
class Renewed {
 public:
  using Make = std::function<std::shared_ptr<T>()>;

  // Makes the first one.
  explicit Renewed(Make make) : make_(std::move(make)), current_(make_()) {}

  // Before anything else is called.
  const T& first() const { return *current_; }

  // An object for which `enter` returns true: it begins a use; false: the object can have no more uses. NULL: the
  // caller was cancelled.
  template <typename Enter>
  std::shared_ptr<T> Use(const Enter& enter, const std::atomic<bool>& cancelled) {
    std::unique_lock lock(mutex_);
    while (making_ || current_ == nullptr || !enter(*current_)) {
      if (cancelled) return nullptr;
      if (making_) {
        made_.wait_for(lock, kPatience);
      } else {
        Renew(lock);
      }
    }
    return current_;
  }

  // An object only for the caller: the first, if it is free.
  std::shared_ptr<T> Take() {
    {
      const std::lock_guard lock(mutex_);
      if (current_ != nullptr) return std::move(current_);
    }
    return make_();
  }
  std::shared_ptr<T> New() const { return make_(); }

 private:
  // How often a waiting caller checks whether it must still wait.
  static constexpr std::chrono::milliseconds kPatience{5};

  void Renew(std::unique_lock<std::mutex>& lock) {
    making_ = true;
    lock.unlock();
    std::shared_ptr<T> fresh;
    try {
      fresh = make_();
    } catch (...) {
      End(lock);
      throw;  // the next caller tries
    }
    End(lock);
    current_.swap(fresh);
    lock.unlock();
    fresh.reset();  // freeing may take long, too
    lock.lock();
  }
  void End(std::unique_lock<std::mutex>& lock) {
    lock.lock();
    making_ = false;
    made_.notify_all();
  }

  const Make make_;
  std::mutex mutex_;  // held for a few instructions
  std::condition_variable made_;
  std::shared_ptr<T> current_;
  bool making_ = false;
};

}  // namespace wasinn::backend
