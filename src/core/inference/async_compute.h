// A compute that goes on after the thread that began it has left: the backend reports its end.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <functional>
#include <optional>

#include "core/inference/request.h"
#include "core/memory/guest_memory.h"
#include "core/runtime/executor.h"
#include "core/runtime/watchdog.h"
#include "core/status.h"

namespace wasinn::core {

class Context;

// Does what Context::Compute does, with the same errors. It takes no turn, so it never waits in here.
class AsyncCompute {
 public:
  // Throws nothing, and may destroy the compute. NULL: it failed, and there is no memory for the error.
  using Ended = std::function<void(const Status* status)>;

  // All arguments outlive the compute.
  AsyncCompute(Context& context, const GuestMemory& memory, Executor& executor, Executor::Share& share, Ended ended);
  AsyncCompute(const AsyncCompute&) = delete;
  AsyncCompute& operator=(const AsyncCompute&) = delete;

  // Called once, on a thread of the executor. `ended` is called once: on this thread before it returns, if the backend
  // was left nothing or was quick; else on a thread of the executor, or of the thread that closes the guest.
  void Begin() noexcept;
  // Called by the session, on the backend's thread, perhaps within the backend's locks: it does nothing that could
  // wait.
  void ReportEnd(wasinn_error* error) noexcept;

 private:
  // The last of two events, the backend's report or the return of its function, does the rest.
  enum class State : int { kBegins, kReturned, kReported };

  Status BeginNow();
  void End() noexcept;
  Status EndNow();

  Context& context_;
  const GuestMemory& memory_;
  Executor& executor_;
  Executor::End end_;
  Ended ended_;
  InferenceRequest request_;
  std::optional<Watched::Run> run_;
  Status status_;  // from the beginning
  bool has_memory_ = true;
  bool goes_on_ = false;
  wasinn_error* error_ = nullptr;  // from the end
  std::atomic<State> state_{State::kBegins};
};

}  // namespace wasinn::core
