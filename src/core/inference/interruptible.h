// One call of a backend's that may take long: it has a deadline, and the backend may register what interrupts it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "core/runtime/watchdog.h"
#include "core/status.h"

namespace wasinn::core {

// What a backend registers to be interrupted by.
class CancelHook {
 public:
  CancelHook() = default;
  CancelHook(const CancelHook&) = delete;
  CancelHook& operator=(const CancelHook&) = delete;

  // on_cancel of backend.h, whose token is a CancelHook.
  static void Register(void* hook, void (*cancel)(void*), void* arg);
  // From any thread: calls what is registered, if anything is.
  void Cancel();

 private:
  std::mutex mutex_;  // so that nothing is called after it was unregistered
  void (*cancel_)(void*) = nullptr;
  void* arg_ = nullptr;
};

class Interruptible {
 public:
  // As Watched. With neither deadline nor `stop` nothing is watched. `limit`: which the message names, if the deadline is
  // what was left of it.
  Interruptible(Watchdog& dog, std::chrono::milliseconds deadline, const std::atomic<bool>* stop,
                std::chrono::milliseconds limit = {})
      : dog_(dog), limit_(std::max(deadline, limit)) {
    if (deadline.count() > 0 || stop != nullptr) watched_.emplace(dog, deadline, [this] { hook_.Cancel(); }, stop);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  // What the backend is given to register with.
  void* token() { return &hook_; }
  static auto on_cancel() { return &CancelHook::Register; }

  // Runs `call`, once. If it fails after it was stopped, the result is TIMEOUT; one that succeeds nevertheless is fine.
  template <typename Call>
  Status Run(const char* what, const char* backend, Call&& call) {
    if (!watched_) return call();
    if (Status status = dog_.Start(); !status.ok()) return status;
    Watched::Run run(*watched_);
    const Status status = call();
    overdue_ = run.End();
    return Outcome(what, backend, status);
  }
  // Whether the deadline passed while it ran.
  bool overdue() const { return overdue_; }

 private:
  Status Outcome(const char* what, const char* backend, const Status& status) const;

  Watchdog& dog_;
  const std::chrono::milliseconds limit_;
  CancelHook hook_;
  bool overdue_ = false;
  std::optional<Watched> watched_;
};

}  // namespace wasinn::core
