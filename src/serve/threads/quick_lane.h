// Quick computes of few threads that also read and write, as gRPC's are: all but one of these may compute. What comes meanwhile waits
// for one of those that do, which takes no other thread's wake-up; so does nothing behind what turns out to be slow.
#pragma once

#include <chrono>
#include <mutex>

#include "serve/threads/workers.h"

namespace wasinn::serve {

// Any thread.
class QuickLane {
 public:
  // `workers` outlives it.
  QuickLane(size_t threads, Workers& workers) : most_(threads - 1), workers_(workers) {}

  // Has it run on this thread, after what another one computes here, or by the workers. As Workers::Begin.
  [[nodiscard]] bool Run(Workers::Job job);
  // Gives the workers what waits behind something slow. To be called now and then.
  void Sweep();

 private:
  using Clock = std::chrono::steady_clock;

  bool IsMoving() const;  // of `mutex_`

  const size_t most_;
  Workers& workers_;
  std::mutex mutex_;  // of what follows
  size_t n_running_ = 0;
  Clock::time_point last_begun_;
  FairQueue<Workers::Job> waiting_;
};

}  // namespace wasinn::serve
