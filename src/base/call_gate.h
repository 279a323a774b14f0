// Lets other threads interrupt a call while it is inside, and only then.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace wasinn::base {

// Enter, Close and Leave: the thread that makes the call, or that gets its end. Cancel: any thread, at any time.
class CallGate {
 public:
  void Enter() { state_.store(kInside, std::memory_order_release); }
  // No cancel begins any more. One that is under way goes on: it may be the one that calls this.
  void Close() { state_.fetch_and(~kInside, std::memory_order_acq_rel); }
  // The same, and waits for the cancel that is under way.
  void Leave() {
    uint32_t state = state_.fetch_and(~kInside, std::memory_order_acq_rel);
    while ((state & kCancelling) != 0) {
      state_.wait(state, std::memory_order_acquire);
      state = state_.load(std::memory_order_acquire);
    }
  }

  // Calls `cancel` if a call is inside and nobody else cancels it.
  template <typename Function>
  void Cancel(Function&& cancel) {
    uint32_t inside = kInside;
    if (!state_.compare_exchange_strong(inside, kInside | kCancelling, std::memory_order_acq_rel)) return;
    std::forward<Function>(cancel)();
    state_.fetch_and(~kCancelling, std::memory_order_acq_rel);
    state_.notify_all();
  }

 private:
  static constexpr uint32_t kInside = 1, kCancelling = 2;
  std::atomic<uint32_t> state_{0};
};

}  // namespace wasinn::base
