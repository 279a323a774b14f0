// Quick computes on a few threads that also read and write, like gRPC's: all but one of them may compute. Further
// requests wait for one of these threads, which saves waking another; none waits behind a slow compute.
#pragma once

#include <chrono>
#include <mutex>

#include "serve/threads/workers.h"

namespace wasinn::serve {

// Thread-safe.
class QuickLane {
 public:
  // `workers` outlives it.
  QuickLane(size_t threads, Workers& workers) : most_(threads - 1), workers_(workers) {}

  // Runs the job on this thread, or after a running job, or on a worker. Otherwise like Workers::Begin.
  [[nodiscard]] bool Run(Workers::Job job);
  // Hands jobs behind a slow one to the workers. Called periodically.
  void Sweep();

 private:
  using Clock = std::chrono::steady_clock;

  bool IsMoving() const;  // needs `mutex_`

  const size_t most_;
  Workers& workers_;
  std::mutex mutex_;  // guards the members below
  size_t n_running_ = 0;
  Clock::time_point last_begun_;
  FairQueue<Workers::Job> waiting_;
};

}  // namespace wasinn::serve
