// In which OS process something is: one that was forked off it has none of its threads, and may find their locks held.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace wasinn::core {

// Any thread.
class StartedIn {
 public:
  void SetToThisProcess() { process_.store(::getpid(), std::memory_order_release); }
  // False, too, while nothing was started.
  bool is_elsewhere() const {
    const pid_t process = process_.load(std::memory_order_acquire);
    return process != 0 && process != ::getpid();
  }

 private:
  std::atomic<pid_t> process_{0};
};

}  // namespace wasinn::core
