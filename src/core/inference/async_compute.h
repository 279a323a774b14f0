// A compute that goes on after the thread that began it has left: the backend tells when it is over.
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
  // Throws nothing, and may destroy the compute. NULL: it failed, and there is no memory to say how.
  using Ended = std::function<void(const Status* status)>;

  // All of it outlives the compute.
  AsyncCompute(Context& context, const GuestMemory& memory, Executor& executor, Executor::Share& share, Ended ended);
  AsyncCompute(const AsyncCompute&) = delete;
  AsyncCompute& operator=(const AsyncCompute&) = delete;

  // Once, on a thread of the executor. `ended` is called once: on this thread before it returns, if nothing was left to
  // the backend or that was quick; else on a thread of the executor, or of who closes the guest.
  void Begin() noexcept;
  // By the session that has begun, on the backend's thread, perhaps within its locks: nothing is done here that could
  // wait.
  void Tell(wasinn_error* error) noexcept;

 private:
  // The last one to come, the backend's end or the return of its function that began, sees to the rest.
  enum class State : int { kBegins, kReturned, kTold };

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
  Status status_;  // of the beginning
  bool has_memory_ = true;
  bool goes_on_ = false;
  wasinn_error* error_ = nullptr;  // of the end
  std::atomic<State> state_{State::kBegins};
};

}  // namespace wasinn::core
