// How `wasinn run` ends when its guest does not: by Ctrl-C, SIGTERM, or a deadline that the guest outlives.
#pragma once

#include <wasinn/wasinn.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace wasinn::cli {

// One for the OS process at a time. A first signal stops the guest; if the command has not ended within kGrace, as where
// a guest is in a system call or a compute cannot be cancelled, the OS process ends without waiting, but for a second in
// which it completes the files that it is writing. A second signal ends it at once.
class RunGuard {
 public:
  static constexpr std::chrono::milliseconds kGrace{80};  // and what it takes to see it: 100 in all

  RunGuard() = default;
  ~RunGuard();
  RunGuard(const RunGuard&) = delete;
  RunGuard& operator=(const RunGuard&) = delete;

  // From here on signals stop the guest. It has so much time, in which it is interrupted by its own deadline; 0: any.
  // Where the system gives no thread, signals end the command as they do without this.
  // `keep` writes what else would be lost, before the process ends with the code: called when it is about to end without
  // waiting, once or twice, perhaps while the guest ends after all.
  void Begin(wasinn_guest* guest, std::chrono::milliseconds timeout, std::function<void(int code)> keep);
  // The run is over: its deadline holds no more, and the guest may go. Returns the signal that came, or 0.
  int Over();

 private:
  using Clock = std::chrono::steady_clock;
  void Watch(Clock::time_point deadline);
  void Stop();
  void EndSoonAndKeep(int code);
  void Keep(int code);
  void Tell(uint8_t what) const;

  int pipe_[2] = {-1, -1};
  std::mutex mutex_;  // of what follows
  wasinn_guest* guest_ = nullptr;
  std::function<void(int code)> keep_;
  std::thread thread_;
};

}  // namespace wasinn::cli
