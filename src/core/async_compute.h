// A compute that goes on after the thread that began it has left: the backend tells when it is over.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <functional>
#include <optional>

#include "core/context_inputs.h"
#include "core/context_slot.h"
#include "core/executor.h"
#include "core/guest_memory.h"
#include "core/status.h"
#include "core/watchdog.h"

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

 private:
  friend class Completion;
  // Who comes last, the backend's end or the return of its function that began, sees to the rest.
  enum class State : int { kBegins, kReturned, kTold };

  Status BeginNow(bool& goes_on);
  Status BeginInBackend(bool& goes_on);
  // By the backend's thread, perhaps within its locks: nothing is done here that could wait.
  void Tell(wasinn_error* error) noexcept;
  void End() noexcept;
  Status EndNow();

  Context& context_;
  const GuestMemory& memory_;
  Executor& executor_;
  Executor::End end_;
  Ended ended_;
  std::optional<Watched::Run> run_;
  std::optional<ContextInputs::Binding> binding_;
  std::optional<ContextSlot::Call> call_;
  wasinn_compute_options options_{};
  wasinn_compute_result result_{.struct_size = sizeof(wasinn_compute_result)};
  Status status_;  // of the beginning
  bool has_memory_ = true;
  wasinn_error* error_ = nullptr;  // of the end
  std::atomic<State> state_{State::kBegins};
};

}  // namespace wasinn::core
