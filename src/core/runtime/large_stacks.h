// For calls that need more stack than a guest's thread has: engines may give threads little (WAMR 128 KiB), and
// compiled guests may have used nearly all of any thread's.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/runtime/started_in.h"
#include "core/status.h"

namespace wasinn::core {

// The bytes that are left on this thread's stack, as if it had at most `most` in all. SIZE_MAX: the stack is not the
// thread's own.
size_t StackLeft(size_t most);

// Not std::thread: it has the system's default stack, and throws if there is no thread.
bool StartLargeThread(pthread_t* thread, void* (*function)(void*), void* argument);

// Host threads with large stacks, which calls of guests borrow. They are created if none is idle, and a few are kept.
// Thread-safe.
class LargeStacks {
 public:
  // Further calls of one guest wait for each other, but never for another guest's.
  static constexpr size_t kMaxOfOneGuest = 16;
  static constexpr size_t kMaxIdle = 8;

  // The threads of one guest; it outlives the guest's calls.
  class Share {
    friend LargeStacks;
    size_t held_ = 0;  // guarded by the mutex of LargeStacks
  };

  LargeStacks() = default;
  ~LargeStacks();  // no call may be in progress
  LargeStacks(const LargeStacks&) = delete;
  LargeStacks& operator=(const LargeStacks&) = delete;

  // Runs `call`, which throws nothing, on one of the threads, and waits. It fails without calling it if the system
  // gives no thread and the guest has none that will be free later.
  Status Run(Share& share, const std::function<void()>& call);

 private:
  struct Thread {
    std::mutex& mutex;  // of LargeStacks
    pthread_t handle = {};
    std::condition_variable changed;
    const std::function<void()>* call = nullptr;  // that it runs
    bool ends = false;
  };
  std::unique_ptr<Thread> Borrow();
  static void* Work(void* thread);
  static void End(std::unique_lock<std::mutex>& lock, Thread& thread);

  StartedIn started_in_;
  std::mutex mutex_;                    // guards all members
  std::condition_variable given_back_;  // for guests at their limit
  std::vector<std::unique_ptr<Thread>> idle_;
};

}  // namespace wasinn::core
