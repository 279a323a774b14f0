// An interpreter with its inputs and outputs: a context uses it, and leaves it to the next one.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/reservation.h"
#include "common/spare_threads.h"
#include "tflite/interpreter.h"
#include "tflite/signature.h"
#include "tflite/tensors.h"

namespace wasinn::tflite {

class Model;

// One thread at a time, except for Cancel.
class Session {
 public:
  struct Memory {
    uint64_t max_bytes = 0;                // for the values of a compute; 0: no limit
    uint64_t needed = 0;                   // at least: XNNPACK does not report its needs for other shapes
    backend::Reservation* kept = nullptr;  // for the interpreter's memory
  };

  Session(const Signature& signature, std::unique_ptr<Interpreter> interpreter);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int threads() const { return threads_; }
  Inputs& inputs() { return inputs_; }
  Outputs& outputs() { return outputs_; }
  void Compute(const Model& model, const Memory& memory, const std::atomic<bool>& cancelled);
  // Charges the interpreter's memory. Throws if that is too much.
  void Charge(const Model& model, const Memory& memory) const;
  void Output(uint32_t index, wasinn_tensor* view) {
    backend::CheckComputed(computed_);
    outputs_.View(*interpreter_, index, view);
  }
  // There are no outputs until the next compute. Only the interpreter can free HeldByOutputs().
  void DiscardOutputs() {
    computed_ = false;
    outputs_.Discard();
  }
  uint64_t HeldByOutputs() const;
  // The outputs of another session are the context's from now on. Returns the memory that these still hold.
  uint64_t SetOutputsAside();
  // Frees all memory for outputs. A state is lost, and the next compute reports that.
  void FreeOutputs(bool has_state);
  // During Compute.
  void Cancel() const {
    if (const Interpreter* running = running_) running->Cancel();
  }

  // For another guest: nothing of the last one can be read. Returns the memory that it still has; no value: it must not
  // be used again, or its interpreter has more than `most`.
  std::optional<uint64_t> Reset(const Model& model, uint64_t most);

 private:
  void Allocate(const Model& model, const Memory& memory);
  void Grow(const Model& model, const Memory& memory);
  // Calls `grow`. If that throws, the interpreter may have memory that no one is charged for, and is dropped.
  void OrDrop(const Model& model, const Memory& memory, const std::function<void()>& grow);
  // Strings stay in the interpreter, next to its other memory.
  void ChargeStrings(const Model& model, const Memory& memory, uint64_t bytes) const;
  void Renew(const Model& model);
  void DropInterpreter();

  const int threads_;
  std::unique_ptr<Interpreter> interpreter_;  // NULL: the next compute makes one
  Inputs inputs_;
  Outputs outputs_;
  std::atomic<const Interpreter*> running_ = nullptr;  // during a compute
  bool allocated_ = false;
  bool has_run_ = false;  // the interpreter may have a state
  bool refused_ = false;  // it may have grown, uncharged
  bool computed_ = false;
  bool lost_state_ = false;  // and no caller knows it
};

// Sessions that no context uses, which still cost memory and threads. Thread-safe.
class IdleSessions {
 public:
  // At most `most`. `threads`: shared by those with more than one, of all models; `kept`: for their memory.
  IdleSessions(size_t most, backend::SpareThreads* threads, backend::Reservation kept);
  IdleSessions(const IdleSessions&) = delete;
  IdleSessions& operator=(const IdleSessions&) = delete;

  // A session with that many threads; NULL: there is none.
  std::unique_ptr<Session> Take(int threads);
  // Takes a session that was reset, with `bytes` of memory. If there are too many, the oldest is destroyed; if there is
  // no room for its memory or threads, this one is.
  void Give(std::unique_ptr<Session> session, uint64_t bytes) noexcept;

 private:
  struct Idle {
    std::unique_ptr<backend::ThreadLease> threads;
    std::unique_ptr<Session> session;  // destroyed before its threads are given back
    uint64_t bytes = 0;
  };

  // Needs the lock.
  Idle Remove(size_t index);

  const size_t most_;
  backend::SpareThreads* const threads_;
  std::mutex mutex_;
  backend::Reservation kept_;
  std::vector<Idle> idle_;  // oldest first
};

}  // namespace wasinn::tflite
