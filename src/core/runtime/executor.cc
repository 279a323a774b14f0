#include "core/runtime/executor.h"

#include "core/runtime/large_stacks.h"

namespace wasinn::core {

Executor::~Executor() {
  if (started_in_.is_elsewhere()) {
    (void)changed_.release();
    (void)ends_wait_.release();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_->notify_all();
  ends_wait_->notify_all();
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  if (thread_of_ends_) pthread_join(*thread_of_ends_, nullptr);
}

Status Executor::Start() {
  RETURN_IF_ERROR(started_in_.Check());
  const std::lock_guard lock(mutex_);
  return threads_.empty() ? StartThread() : Status();
}

Status Executor::Begin(Share& share, Job job) {
  RETURN_IF_ERROR(started_in_.Check());
  std::list<Share::One> one;
  one.push_back({&share, std::move(job)});
  std::list<Share*> turn;
  turn.push_back(&share);
  {
    const std::lock_guard lock(mutex_);
    if (idle_ <= waiting_ && threads_.size() < most_) {
      if (Status status = StartThread(); !status.ok() && threads_.empty()) return status;
    }
    if (share.waiting_.empty()) turns_.splice(turns_.end(), turn);
    share.waiting_.splice(share.waiting_.end(), one);
    ++waiting_;
  }
  changed_->notify_one();
  return Status();
}

template <void (Executor::*kWork)()>
void* Executor::Work(void* executor) {
  (static_cast<Executor*>(executor)->*kWork)();
  return nullptr;
}

// Needs `mutex_`.
Status Executor::StartThread() {
  threads_.reserve(most_);
  pthread_t thread{};
  if (!StartLargeThread(&thread, Work<&Executor::WorkUntilTheEnd>, this)) {
    return Error(WASINN_ERROR_RUNTIME, "the system gives no thread for asynchronous calls");
  }
  threads_.push_back(thread);
  started_in_.SetToThisProcess();
  return Status();
}

void Executor::WorkOnEndsUntilTheEnd() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ends_wait_->wait(lock, [this] { return ends_ || !ends_of_jobs_.empty(); });
    if (ends_of_jobs_.empty()) return;
    Job job = TakeEnd();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

void Executor::WorkUntilTheEnd() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_->wait(lock, [this] { return ends_ || waiting_ > 0; });
    --idle_;
    if (waiting_ == 0) return;
    Job job = TakeNext();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

// Needs `mutex_`, like the next three.
Executor::Job Executor::TakeNext() noexcept { return ends_of_jobs_.empty() ? TakeJob() : TakeEnd(); }

Executor::Job Executor::TakeEnd() noexcept {
  Job job = std::move(ends_of_jobs_.front().job);
  ends_of_jobs_.pop_front();
  --waiting_;
  return job;
}

// A guest with more jobs goes to the end of the order.
Executor::Job Executor::TakeJob() noexcept {
  Share* const share = turns_.front();
  Job job = std::move(share->waiting_.front().job);
  share->waiting_.pop_front();
  --waiting_;
  if (share->waiting_.empty()) {
    turns_.pop_front();
  } else {
    turns_.splice(turns_.end(), turns_, turns_.begin());
  }
  return job;
}

// All threads may be busy for long: other guests' jobs must not hold up an end, and a thread that gets this notice must
// not run one.
void Executor::NotifyOfEnds(const Share& share) noexcept {
  if (idle_ < waiting_ && threads_.size() < most_) {
    (void)StartThread();  // on failure the existing threads do the work
  } else if (idle_ < waiting_ && !thread_of_ends_) {
    pthread_t thread{};
    if (StartLargeThread(&thread, Work<&Executor::WorkOnEndsUntilTheEnd>, this)) thread_of_ends_ = thread;
  }
  if (share.notify_) share.notify_();
}

void Executor::RunWaiting(Share& share) noexcept {
  if (started_in_.is_elsewhere()) return;
  std::list<Share::One> jobs;
  {
    const std::lock_guard lock(mutex_);
    if (share.waiting_.empty()) return;
    jobs.swap(share.waiting_);
    waiting_ -= jobs.size();
    turns_.remove(&share);
  }
  for (const Share::One& one : jobs) one.job();
}

void Executor::EndWaiting(Share& share) noexcept {
  if (started_in_.is_elsewhere()) return;
  const std::lock_guard lock(mutex_);
  if (share.waiting_.empty()) return;
  turns_.remove(&share);
  ends_of_jobs_.splice(ends_of_jobs_.end(), share.waiting_);
  NotifyOfEnds(share);
  changed_->notify_all();
  ends_wait_->notify_one();
}

// All under the mutex: the thread that runs the end may free this object, and first waits until no thread is in here.
void Executor::Begin(End end) noexcept {
  const std::lock_guard lock(mutex_);
  const Share& share = *end.one_.front().share;
  ends_of_jobs_.splice(ends_of_jobs_.end(), end.one_);
  ++waiting_;
  NotifyOfEnds(share);
  changed_->notify_one();
  ends_wait_->notify_one();
}

void Executor::RunEnds(const Share& share) noexcept {
  if (started_in_.is_elsewhere()) return;
  std::list<Share::One> ends;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = ends_of_jobs_.begin(); at != ends_of_jobs_.end();) {
      const auto one = at++;
      if (one->share == &share) ends.splice(ends.end(), ends_of_jobs_, one);
    }
    waiting_ -= ends.size();
  }
  for (const Share::One& end : ends) end.job();
}

}  // namespace wasinn::core
