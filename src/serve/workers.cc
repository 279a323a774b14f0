#include "serve/workers.h"

#include <algorithm>

#include "serve/log.h"

namespace wasinn::serve {
namespace {

bool IsGone(const Workers::Job& job) { return job.cancellation != nullptr && job.cancellation->is_cancelled(); }

// A job that throws, for want of memory, must not end the others.
void Call(const auto& function, const auto&... arguments) {
  try {
    function(arguments...);
  } catch (const std::exception& error) {
    LogError(error.what());
  }
}

}  // namespace

Workers::Workers(const Limits& limits) : most_(limits.most), patience_(limits.patience) {
  for (size_t i = 0; i < limits.threads; ++i) threads_.emplace_back([this] { Serve(); });
}

bool Workers::Waiting::IsOver() const { return IsGone(job) || std::chrono::steady_clock::now() >= until; }

void Workers::Refuse(const Queue& queue) {
  for (const auto& [job, until] : queue) {
    Call(job.refuse, IsGone(job) ? Failure{WASINN_UNAVAILABLE, "nobody waits for it any more"}
                                 : TryAgain("it has waited for a thread for too long"));
  }
}

Workers::Queue Workers::TakeOver() {
  Queue over;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto one = next++;
    if (stopped_ || one->IsOver()) over.splice(over.end(), waiting_, one);
  }
  return over;
}

bool Workers::Begin(Job job) {
  Queue one, over;
  one.push_back({std::move(job), std::chrono::steady_clock::now() + patience_});
  bool begun = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + n_running_ >= most_) over = TakeOver();
    begun = !stopped_ && waiting_.size() + n_running_ < most_;
    if (begun) waiting_.splice(waiting_.end(), one);
  }
  if (begun) wake_.notify_one();
  Refuse(over);
  return begun;
}

void Workers::Serve() {
  for (Queue mine;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      mine.splice(mine.end(), waiting_, waiting_.begin());
      ++n_running_;
    }
    if (mine.front().IsOver()) {
      Refuse(mine);
    } else {
      Call(mine.front().job.run);
    }
    mine.clear();  // what it holds goes before its place is another's
    const std::lock_guard lock(mutex_);
    --n_running_;
  }
}

void Workers::Sweep() {
  Queue over;
  {
    const std::lock_guard lock(mutex_);
    over = TakeOver();
  }
  Refuse(over);
}

void Workers::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  Sweep();
  threads_.clear();  // waits for each
}

}  // namespace wasinn::serve
