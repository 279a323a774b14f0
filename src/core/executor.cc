#include "core/executor.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/large_stacks.h"

namespace wasinn::core {

Executor::~Executor() {
  if (started_in_ != ::getpid()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
}

Status Executor::Begin(Share& share, Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (started_in_ != 0 && started_in_ != ::getpid()) {
      return Error(WASINN_LOST, "this OS process was forked off its host, whose threads it has not");
    }
    if (idle_ <= turns_.size() && threads_.size() < most_) {
      if (Status status = StartThread(); !status.ok() && threads_.empty()) return status;
    }
    share.waiting_.push_back(std::move(job));
    if (share.waiting_.size() == 1) {
      try {
        turns_.push_back(&share);
      } catch (...) {
        share.waiting_.pop_back();
        throw;
      }
    }
  }
  changed_.notify_one();
  return Status();
}

// Of `mutex_`.
Status Executor::StartThread() {
  threads_.reserve(most_);
  pthread_t thread{};
  if (!StartLargeThread(&thread, Work, this)) {
    return Error(WASINN_RUNTIME_ERROR, "the system gives no thread for calls that nobody waits for");
  }
  threads_.push_back(thread);
  started_in_ = ::getpid();
  return Status();
}

void* Executor::Work(void* executor) {
  static_cast<Executor*>(executor)->WorkUntilTheEnd();
  return nullptr;
}

void Executor::WorkUntilTheEnd() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return ends_ || !turns_.empty(); });
    --idle_;
    if (turns_.empty()) return;
    Job job = TakeNext();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

// Of `mutex_`. Whose guest has more goes to the end.
Executor::Job Executor::TakeNext() {
  Share* const share = turns_.front();
  Job job = std::move(share->waiting_.front());
  share->waiting_.pop_front();
  turns_.pop_front();
  if (!share->waiting_.empty()) turns_.push_back(share);
  return job;
}

void Executor::RunWaiting(Share& share) noexcept {
  std::deque<Job> jobs;
  {
    const std::lock_guard lock(mutex_);
    if (share.waiting_.empty()) return;
    jobs.swap(share.waiting_);
    std::erase(turns_, &share);
  }
  for (const Job& job : jobs) job();
}

}  // namespace wasinn::core
