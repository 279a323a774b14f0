// Lets other threads interrupt a call only while it is inside.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace wasinn::base {

// The thread that makes the call, or gets its end, calls Enter, Close and Leave. Any thread may call Cancel.
class CallGate {
 public:
  void Enter() { state_.store(kInside, std::memory_order_release); }
  // From now on no cancel begins. One that is under way goes on: it may be the caller of this.
  void Close() { state_.fetch_and(~kInside, std::memory_order_acq_rel); }
  // Closes the gate, and waits for a cancel that is under way.
  void Leave() {
    uint32_t state = state_.fetch_and(~kInside, std::memory_order_acq_rel);
    while ((state & kCancelling) != 0) {
      state_.wait(state, std::memory_order_acquire);
      state = state_.load(std::memory_order_acquire);
    }
  }

  // Calls `cancel` if a call is inside and no other thread cancels it.
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
