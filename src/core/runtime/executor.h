// Threads of the host for calls that their callers do not wait for.
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

// Any thread.
class Executor {
 public:
  using Job = std::function<void()>;  // throws nothing

  // The jobs of one guest, in their order; guests take turns. It outlives them.
  class Share {
   public:
    // `told`, if given, is called for each end (below) that waits for a thread, and neither blocks nor calls this.
    explicit Share(std::function<void()> told = nullptr) : told_(std::move(told)) {}

   private:
    friend Executor;
    struct One {
      Share* share;
      Job job;
    };
    const std::function<void()> told_;
    std::list<One> waiting_;  // under the executor's mutex
  };

  // The end of what a job has begun and left to others. It is made beforehand, so that whoever learns that it has come
  // needs no memory, and cannot fail. Ends take little time, and come before jobs.
  class End {
   public:
    End() = default;
    End(Share& share, Job job) { one_.push_back({&share, std::move(job)}); }

   private:
    friend Executor;
    std::list<Share::One> one_;  // or none
  };

  // No more than so many threads for jobs, each started when there is something for it. If all of them are at work, one
  // more runs ends.
  explicit Executor(uint32_t most) : most_(most) {}
  ~Executor();  // nothing is under way
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Runs `job` once, later. An error: the system gives no thread at all, and nothing runs.
  Status Begin(Share& share, Job job);
  // The jobs of a guest that have not begun run now, on this thread: for guests that are stopped, so that each has ended
  // when this returns. In an OS process that was forked off none does.
  void RunWaiting(Share& share) noexcept;
  // The same for a thread that must not run them: they become ends: for guests that are stopped, whose jobs take little time then.
  // Does not block. In an OS process that was forked off nothing happens.
  void EndWaiting(Share& share) noexcept;
  // Runs an end that was made, once, later. Does not block. There is a thread, since a job has run.
  void Begin(End end) noexcept;
  // Those of a guest that wait for a thread run now, on this one: other guests' jobs may hold all threads for long.
  void RunEnds(const Share& share) noexcept;

 private:
  static void* Work(void* executor);
  static void* WorkOnEnds(void* executor);
  void WorkUntilTheEnd();
  void WorkOnEndsUntilTheEnd();
  Job TakeNext() noexcept;
  Job TakeJob() noexcept;
  Job TakeEnd() noexcept;
  Status StartThread();
  void TellOfEnds(const Share& share) noexcept;

  const uint32_t most_;
  StartedIn started_in_;
  std::mutex mutex_;  // of what follows
  // Destroying one waits for those who wait, for ever in an OS process that was forked off.
  std::unique_ptr<std::condition_variable> changed_ = std::make_unique<std::condition_variable>();
  std::unique_ptr<std::condition_variable> ends_wait_ = std::make_unique<std::condition_variable>();
  // Lists: what has been taken in needs no memory to be taken out.
  std::list<Share*> turns_;  // those that have something waiting, each once
  size_t waiting_ = 0;       // jobs and ends of all shares
  std::list<Share::One> ends_of_jobs_;
  std::vector<pthread_t> threads_;
  uint32_t idle_ = 0;  // those that wait for a job, or have been told of one
  std::optional<pthread_t> thread_of_ends_;
  bool ends_ = false;
};

}  // namespace wasinn::core
