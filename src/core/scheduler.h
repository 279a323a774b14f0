// How many computes run at once. Each needs memory for its intermediate values, and processors: what is more than these
// can feed waits here, on its own thread, and takes nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/fair_order.h"

namespace wasinn::core {

// Any thread. Whoever finds room pays one atomic operation to come in and one to leave; no lock, no look at a clock.
class Scheduler {
 public:
  // Of a guest: guests that wait have turns by their weights, however many threads of each do.
  using Share = core::Share;

  // Whoever may have to wait. One wait at a time; it outlives it.
  class Waiter {
   public:
    // From any thread, at any time: a wait that is under way ends without a turn. Does not block.
    void Cancel() {
      uint32_t waiting = kWaiting;
      if (state_.compare_exchange_strong(waiting, kCancelled, std::memory_order_acq_rel)) state_.notify_one();
    }

   private:
    friend class Scheduler;
    static constexpr uint32_t kIdle = 0, kWaiting = 1, kTurn = 2, kCancelled = 3;
    std::atomic<uint32_t> state_{kIdle};
    // Of the scheduler's mutex.
    const Share* share_ = nullptr;
    FairOrder::Place place_ = 0;
  };

  // `name` is for messages, and outlives it.
  explicit Scheduler(uint32_t most, const char* name = "")
      : most_(most < kSomeoneWaits ? most : kSomeoneWaits - 1), name_(name) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The right to run, waited for if need be; held to its end.
  class Turn {
   public:
    Turn(Scheduler& scheduler, const Share& share, Waiter& waiter)
        : scheduler_(scheduler), granted_(scheduler.TryEnter() || scheduler.Wait(share, waiter)) {}
    ~Turn() {
      if (granted_ && !scheduler_.TryLeave()) scheduler_.HandOver();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    // False: it was cancelled.
    explicit operator bool() const { return granted_; }

   private:
    Scheduler& scheduler_;
    const bool granted_;
  };

  uint32_t most() const { return most_; }
  const char* name() const { return name_; }
  // How many have a turn now, and how many wait for one.
  uint32_t running() const { return state_.load(std::memory_order_relaxed) & ~kSomeoneWaits; }
  size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  static constexpr uint32_t kSomeoneWaits = 1u << 31;

  bool TryEnter() {
    uint32_t state = state_.load(std::memory_order_relaxed);
    // Who waits goes first: the mark makes the number too large.
    while (state < most_) {
      if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  bool TryLeave() {
    uint32_t state = state_.load(std::memory_order_relaxed);
    while ((state & kSomeoneWaits) == 0) {
      if (state_.compare_exchange_weak(state, state - 1, std::memory_order_release, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  bool Wait(const Share& share, Waiter& waiter);
  void HandOver();
  void GivePlace();
  void RestIfEmpty();

  const uint32_t most_;
  const char* const name_;
  std::atomic<uint32_t> state_{0};  // how many run, and kSomeoneWaits
  mutable std::mutex mutex_;        // of what follows, and of setting the mark
  std::vector<Waiter*> waiting_;
  FairOrder order_;
};

}  // namespace wasinn::core
