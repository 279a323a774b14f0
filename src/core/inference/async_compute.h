// A compute, or a step of a generation, that goes on after the thread that began it has left: the backend reports its
// end, or it has its turn later, on another thread.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <functional>
#include <optional>

#include "core/inference/scheduler.h"
#include "core/inference/session.h"
#include "core/memory/guest_memory.h"
#include "core/runtime/executor.h"
#include "core/runtime/watchdog.h"
#include "core/status.h"

namespace wasinn::core {

class Context;

// Does what Context::Compute or Context::Step does, with the same errors. No thread waits in here, neither for a turn
// nor for its backend if that works without one.
class AsyncCompute {
 public:
  // Throws nothing, and may destroy the compute. No value: it failed, and there is no memory for the error.
  using Ended = std::function<void(std::optional<Status> status)>;

  enum class Kind : uint8_t { kCompute, kStep };
  // All arguments outlive the compute. `memory` gets outputs with a destination; NULL: the caller writes them.
  AsyncCompute(Context& context, const GuestMemory* memory, Executor& executor, Executor::Share& share, Ended ended,
               Kind kind = Kind::kCompute);
  AsyncCompute(const AsyncCompute&) = delete;
  AsyncCompute& operator=(const AsyncCompute&) = delete;

  // One of the two is called, once; the executor has a thread. `ended` is called once: on this thread before it
  // returns, if the backend was left nothing or was quick; else on a thread of the executors, or the thread that closes
  // the guest.
  // A compute, if Context::CanComputeAsync.
  void Begin() noexcept;
  // Computes, or makes a step, on a thread of `computers` as soon as it has its turn; computes that take no turns by
  // themselves have one of `others`. All outlive the compute.
  struct Computers {
    Executor& executor;
    Executor::Share share;
    Scheduler& others;
  };
  // `may_stay`: if it has its turn at once, and the context's last such compute was quick, it is done on this thread,
  // which has stack for a framework.
  void BeginInTurn(Computers& computers, bool may_stay = false) noexcept;
  // Called by the session, on the backend's thread, perhaps within the backend's locks: it does nothing that could
  // wait.
  void ReportEnd(wasinn_error* error) noexcept;

 private:
  // The last of two events, the backend's report or the return of its function, does the rest.
  enum class State : int { kBegins, kReturned, kReported };

  Status BeginNow();
  void BeginCount() noexcept;
  void EndCount(wasinn_code code);
  bool TakeTurns() noexcept;
  void GoOn() noexcept;
  void EndQueue();
  void ComputeNow() noexcept;
  Status Run();
  void End() noexcept;
  Status EndNow(Status status);
  bool ok() const { return status_ && status_->ok(); }

  Context& context_;
  const GuestMemory* const memory_;
  Executor& executor_;
  const Kind kind_;
  Executor::End end_;
  Ended ended_;
  InferenceRequest request_;
  std::optional<Watched::Run> run_;
  std::optional<Status> status_ = Status();  // so far; no value: there was no memory for it
  bool goes_on_ = false, may_stay_ = false;
  wasinn_error* error_ = nullptr;  // from the end
  std::atomic<State> state_{State::kBegins};

  // Turns, in the order in which they are taken: a wait for one keeps those before it.
  struct InTurn {
    InTurn(AsyncCompute& compute, Computers& its_computers);
    Computers& computers;
    const Scheduler::Notify notify;
    std::optional<Scheduler::Turn> of_model;
    Scheduler::Turn of_host;
    Scheduler::Turn* next;   // to be taken, or waited for; NULL: it has all
    bool cancelled = false;  // while it waited
    Executor::End goes_on;   // once it has that turn
  };
  std::optional<InTurn> turns_;
};

}  // namespace wasinn::core
