// One call of a backend that may take long. It has a deadline, and the backend may register how to interrupt it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "core/runtime/watchdog.h"
#include "core/status.h"

namespace wasinn::core {

// Keeps the function that a backend registers to be interrupted.
class CancelHook {
 public:
  CancelHook() = default;
  CancelHook(const CancelHook&) = delete;
  CancelHook& operator=(const CancelHook&) = delete;

  // on_cancel of backend.h, whose token is a CancelHook.
  static void Register(void* hook, void (*cancel)(void*), void* arg) {
    auto* self = static_cast<CancelHook*>(hook);
    const std::lock_guard lock(self->mutex_);
    self->cancel_ = cancel;
    self->arg_ = arg;
  }
  // From any thread: calls the registered function, if there is one.
  void Cancel() {
    const std::lock_guard lock(mutex_);
    if (cancel_ != nullptr) cancel_(arg_);
  }

 private:
  std::mutex mutex_;  // so that nothing is called after it was unregistered
  void (*cancel_)(void*) = nullptr;
  void* arg_ = nullptr;
};

class Interruptible {
 public:
  // As Watched. Without deadline and `stop` nothing is watched. `limit`: the whole time for the message, if the
  // deadline is only the rest of it.
  Interruptible(Watchdog& dog, std::chrono::milliseconds deadline, const std::atomic<bool>* stop,
                std::chrono::milliseconds limit = {})
      : dog_(dog), limit_(std::max(deadline, limit)) {
    if (deadline.count() > 0 || stop != nullptr) watched_.emplace(dog, deadline, [this] { hook_.Cancel(); }, stop);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  // The token with which the backend registers.
  void* token() { return &hook_; }
  static auto on_cancel() { return &CancelHook::Register; }

  // Runs `call`, once. If it fails after it was stopped, the result is TIMEOUT; it may also succeed.
  template <typename Call>
  Status Run(const char* what, const char* backend, Call&& call) {
    if (!watched_) return call();
    RETURN_IF_ERROR(dog_.Start());
    Watched::Run run(*watched_);
    const Status status = call();
    overdue_ = run.End();
    return Outcome(what, backend, status);
  }
  // Whether the deadline passed while it ran.
  bool overdue() const { return overdue_; }

 private:
  Status Outcome(const char* what, const char* backend, const Status& status) const {
    if (status.ok() || (!overdue_ && !watched_->cancelled())) return Copy(status);
    const std::string why =
        overdue_ ? fmt::format("after {} ms", limit_.count()) : "since no caller waits for it any more";
    return Status(WASINN_ERROR_TIMEOUT, fmt::format("the {} was stopped {}: {}", what, why, status.message()), backend);
  }

  Watchdog& dog_;
  const std::chrono::milliseconds limit_;
  CancelHook hook_;
  bool overdue_ = false;
  std::optional<Watched> watched_;
};

}  // namespace wasinn::core
