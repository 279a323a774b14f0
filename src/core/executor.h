// Threads of the host for calls that their callers do not wait for.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "core/status.h"

namespace wasinn::core {

// Any thread.
class Executor {
 public:
  using Job = std::function<void()>;  // throws nothing

  // The jobs of one guest, in their order; guests take turns. It outlives them.
  class Share {
    friend Executor;
    std::deque<Job> waiting_;  // under the executor's mutex
  };

  // No more than so many threads, each started when there is something for it.
  explicit Executor(uint32_t most) : most_(most) {}
  ~Executor();  // nothing is under way
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Runs `job` once, later. An error: the system gives no thread at all, and nothing runs.
  Status Begin(Share& share, Job job);
  // Those of a guest that have not begun run now, on this thread: for guests that are closed, so that each ends at once.
  void RunWaiting(Share& share) noexcept;

 private:
  static void* Work(void* executor);
  void WorkUntilTheEnd();
  Job TakeNext();
  Status StartThread();

  const uint32_t most_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Share*> turns_;  // those that have something waiting, each once
  std::vector<pthread_t> threads_;
  uint32_t idle_ = 0;
  pid_t started_in_ = 0;  // an OS process that was forked off has none of the threads
  bool ends_ = false;
};

}  // namespace wasinn::core
