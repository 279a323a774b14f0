// The time of one thread, which a test turns: std::chrono::steady_clock shows it there, to the backend, too.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "backends/test_host.h"

namespace wasinn::test {

// The clock of the thread that makes it. Any other thread may turn it in the meantime.
class OwnClock {
 public:
  OwnClock();
  ~OwnClock();
  OwnClock(const OwnClock&) = delete;
  OwnClock& operator=(const OwnClock&) = delete;

  void Turn(std::chrono::nanoseconds ahead) { ahead_ += ahead.count(); }
  void Stop() { stands_ = true; }
  // How often the thread has begun to wait for a moment, as it does to look again and again whether to go on.
  uint64_t polls() const { return polls_; }

 private:
  friend class OwnClockOfThread;

  const int64_t start_;
  std::atomic<int64_t> ahead_ = 0;  // nanoseconds
  std::atomic<bool> stands_ = false;
  std::atomic<uint64_t> polls_ = 0;
};

// A call on a thread of its own, which has its own time.
class Waiter {
 public:
  explicit Waiter(Context* context) : Waiter(context, [context] { return context->Compute(); }) {}
  Waiter(Context* context, std::function<Result()> call)
      : context_(context), thread_([this, call = std::move(call)] {
          OwnClock clock;
          clock_ = &clock;
          result_ = call();
          has_ended_ = true;
          released_.wait(false);
        }) {}
  ~Waiter() {
    if (thread_.joinable()) (void)Join();
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Until it has looked so many times more whether it may go on. False: it has ended before.
  bool AwaitPolls(uint64_t more) const {
    while (clock_ == nullptr && !has_ended_) std::this_thread::yield();
    for (const uint64_t before = clock_.load()->polls(); !has_ended_; std::this_thread::yield()) {
      if (clock_.load()->polls() >= before + more) return true;
    }
    return false;
  }
  bool has_ended() const { return has_ended_; }
  OwnClock& clock() { return *clock_; }
  // Waits for its end, and returns its answer.
  Result Join() {
    released_ = true;
    released_.notify_all();
    thread_.join();
    return result_;
  }
  Result Cancel() {
    while (!has_ended_) context_->Cancel();
    return Join();
  }

 private:
  Context* const context_;
  std::atomic<OwnClock*> clock_ = nullptr;
  std::atomic<bool> has_ended_ = false, released_ = false;
  Result result_;
  std::thread thread_;
};

}  // namespace wasinn::test
