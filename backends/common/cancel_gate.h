// Lets another thread interrupt an operation while it runs, and only then.
#pragma once

#include <atomic>
#include <utility>

namespace wasinn::backend {

// Frameworks have a flag that stops the running operation, and would stop the next one too if it were set too late. The
// gate closes that hole: Cancel() touches the framework only between Enter() and Leave(), and Leave() waits until a
// Cancel() that is inside has finished, so that clearing the flag afterwards is the last word.
//
// Enter, Leave: one thread at a time. Cancel: any thread, at any time, any number of times.
class CancelGate {
 public:
  void Enter() {
    cancelled_.store(false, std::memory_order_relaxed);
    state_.store(State::kRunning, std::memory_order_release);
  }

  // Whether Cancel() reached the operation that Enter() began.
  bool Leave() {
    State expected = State::kRunning;
    while (!state_.compare_exchange_weak(expected, State::kIdle, std::memory_order_acq_rel)) {
      state_.wait(State::kCancelling, std::memory_order_acquire);
      expected = State::kRunning;
    }
    return cancelled();
  }

  // Calls `interrupt` if an operation is running and nobody else is interrupting it.
  template <typename Interrupt>
  void Cancel(Interrupt&& interrupt) {
    State expected = State::kRunning;
    if (!state_.compare_exchange_strong(expected, State::kCancelling, std::memory_order_acq_rel)) return;
    cancelled_.store(true, std::memory_order_relaxed);
    std::forward<Interrupt>(interrupt)();
    state_.store(State::kRunning, std::memory_order_release);
    state_.notify_all();
  }

  // For code inside the operation that can stop by itself.
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  enum class State : int { kIdle, kRunning, kCancelling };

  std::atomic<State> state_ = State::kIdle;
  std::atomic<bool> cancelled_ = false;
};

// Lets cancel in while it lives.
class GateScope {
 public:
  explicit GateScope(backend::CancelGate* gate) : gate_(gate) { gate_->Enter(); }
  ~GateScope() { gate_->Leave(); }
  GateScope(const GateScope&) = delete;
  GateScope& operator=(const GateScope&) = delete;

 private:
  backend::CancelGate* const gate_;
};

}  // namespace wasinn::backend
