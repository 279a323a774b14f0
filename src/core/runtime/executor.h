// Threads of the host for calls whose callers do not wait.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/runtime/started_in.h"
#include "core/status.h"

namespace wasinn::core {

// Thread-safe.
class Executor {
 public:
  using Job = std::function<void()>;  // throws nothing

  // The jobs of one guest, in order; guests take turns. It outlives the jobs.
  class Share {
   public:
    // `notify`, if given, is called for each end (below) that waits for a thread. It must neither block nor call this.
    explicit Share(std::function<void()> notify = nullptr) : notify_(std::move(notify)) {}

   private:
    friend Executor;
    struct One {
      Share* share;
      Job job;
    };
    const std::function<void()> notify_;
    std::list<One> waiting_;  // guarded by the executor's mutex
  };

  // The end of work that a job began and left to others. It is created beforehand, so that its report allocates nothing
  // and cannot fail. Ends take little time, and run before jobs.
  class End {
   public:
    End() = default;
    End(Share& share, Job job) { one_.push_back({&share, std::move(job)}); }

   private:
    friend Executor;
    std::list<Share::One> one_;  // or empty
  };

  // Starts at most `most` threads for jobs, each when there is something to do. If all of them are busy, one more
  // thread runs ends.
  explicit Executor(uint32_t most) : most_(most) {}
  ~Executor();  // no job may be under way
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Starts a thread if there is none, for ends that no job has begun. An error: the system gives none.
  Status Start();
  // Runs `job` once, later. An error: the system gives no thread, and nothing runs.
  Status Begin(Share& share, Job job);
  // Runs a guest's jobs that have not begun now, on this thread. For guests that are stopped: all jobs have ended when
  // this returns. Does nothing in a forked OS process.
  void RunWaiting(Share& share) noexcept;
  // As above, for a thread that must not run jobs: they become ends. For guests that are stopped, whose jobs take
  // little time then. Does not block. Does nothing in a forked OS process.
  void EndWaiting(Share& share) noexcept;
  // Runs an end once, later. Does not block. There is a thread, since a job has run, or Start.
  void Begin(End end) noexcept;
  // Runs a guest's ends that wait for a thread now, on this thread: other guests' jobs may occupy all threads for long.
  void RunEnds(const Share& share) noexcept;

 private:
  template <void (Executor::*kWork)()>
  static void* Work(void* executor);
  void WorkUntilTheEnd();
  void WorkOnEndsUntilTheEnd();
  Job TakeNext() noexcept;
  Job TakeJob() noexcept;
  Job TakeEnd() noexcept;
  Status StartThread();
  void NotifyOfEnds(const Share& share) noexcept;

  const uint32_t most_;
  StartedIn started_in_;
  std::mutex mutex_;  // guards the members below
  // Its destructor waits for all waiting threads: for ever in a forked OS process.
  std::unique_ptr<std::condition_variable> changed_ = std::make_unique<std::condition_variable>();
  std::unique_ptr<std::condition_variable> ends_wait_ = std::make_unique<std::condition_variable>();
  // Lists: removing an element allocates nothing.
  std::list<Share*> turns_;  // those with waiting jobs, each once
  size_t waiting_ = 0;       // jobs and ends of all shares
  std::list<Share::One> ends_of_jobs_;
  std::vector<pthread_t> threads_;
  uint32_t idle_ = 0;  // threads that wait for a job, or have just been notified of one
  std::optional<pthread_t> thread_of_ends_;
  bool ends_ = false;
};

}  // namespace wasinn::core
