// Ends `wasinn run` if its guest does not end: by Ctrl-C, SIGTERM, or a deadline.
#pragma once

#include <wasinn/wasinn.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace wasinn::cli {

// One for the OS process at a time. A first signal stops the guest. If the command has not ended within kGrace, for
// example because a guest is in a system call or a compute cannot be cancelled, the OS process ends without waiting,
// except for a second in which it completes the files that it is writing. A second signal ends it at once.
class RunGuard {
 public:
  static constexpr std::chrono::milliseconds kGrace{80};  // with the time to notice it: 100 in all

  RunGuard() = default;
  ~RunGuard();
  RunGuard(const RunGuard&) = delete;
  RunGuard& operator=(const RunGuard&) = delete;

  // From here on signals stop the guest. `time` limits the run, and the guest's own deadline interrupts it before; 0:
  // no limit. If the system gives no thread, signals end the command as usual. `keep` writes what would be lost, before
  // the process ends with the code. It is called when the process is about to end without waiting, once or twice,
  // perhaps while the guest ends after all.
  void Begin(wasinn_guest* guest, std::chrono::milliseconds timeout, std::function<void(int code)> keep);
  // The run is over: its deadline ends, and the guest may be freed. Returns the signal that came, or 0.
  int Over();

 private:
  using Clock = std::chrono::steady_clock;
  void Watch(Clock::time_point deadline);
  void Stop();
  void EndSoonAndKeep(int code);
  void Keep(int code);
  void Notify(uint8_t what) const;

  int pipe_[2] = {-1, -1};
  std::mutex mutex_;  // guards the members below
  wasinn_guest* guest_ = nullptr;
  std::function<void(int code)> keep_;
  std::thread thread_;
};

}  // namespace wasinn::cli
