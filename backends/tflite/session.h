// An interpreter with its inputs and outputs: what a context uses, and leaves to the next one.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
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

// One thread at a time, but for Cancel.
class Session {
 public:
  struct Memory {
    uint64_t max_bytes = 0;                // for the values of a compute; 0: no limit
    uint64_t needed = 0;                   // at least: XNNPACK does not tell what it needs for other shapes
    backend::Reservation* kept = nullptr;  // for what the interpreter keeps
  };

  Session(const Signature& signature, std::unique_ptr<Interpreter> interpreter);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int threads() const { return threads_; }
  Inputs& inputs() { return inputs_; }
  Outputs& outputs() { return outputs_; }
  void Compute(const Model& model, const Memory& memory, const std::atomic<bool>& cancelled);
  // Charges what the interpreter keeps. Throws where that is too much.
  void Charge(const Model& model, const Memory& memory) const;
  void Output(uint32_t index, wasinn_tensor* view) {
    backend::CheckComputed(computed_);
    outputs_.View(*interpreter_, index, view);
  }
  // There are none until the next compute. Of what they hold, only the interpreter can free HeldByOutputs().
  void DiscardOutputs() {
    computed_ = false;
    outputs_.Discard();
  }
  uint64_t HeldByOutputs() const;
  // The outputs of another session are the context's from now on. Returns what these hold all the same.
  uint64_t SetOutputsAside();
  // Frees all that it holds for outputs. With a state, that is lost, which the next compute says.
  void FreeOutputs(bool has_state);
  // Within Compute.
  void Cancel() const {
    if (const Interpreter* running = running_) running->Cancel();
  }

  // For another guest: nothing of the last one can be read. Returns the memory that it has still; none: it must not be
  // used again, or its interpreter has more than `most`.
  std::optional<uint64_t> Reset(const Model& model, uint64_t most);

 private:
  void Allocate(const Model& model, const Memory& memory);
  void Grow(const Model& model, const Memory& memory);
  void Renew(const Model& model);
  void DropInterpreter();

  const int threads_;
  std::unique_ptr<Interpreter> interpreter_;  // NULL: the next compute makes one
  Inputs inputs_;
  Outputs outputs_;
  std::atomic<const Interpreter*> running_ = nullptr;  // within a compute
  bool allocated_ = false;
  bool has_run_ = false;  // the interpreter may have a state
  bool refused_ = false;  // it may have grown, uncharged
  bool computed_ = false;
  bool lost_state_ = false;  // and nobody has been told
};

// Sessions that nobody uses, which cost memory and threads all the same. Any thread.
class IdleSessions {
 public:
  // `most` of them. `threads`: which those with more than one share, of all models; `kept`: for their memory.
  IdleSessions(size_t most, backend::SpareThreads* threads, backend::Reservation kept);
  IdleSessions(const IdleSessions&) = delete;
  IdleSessions& operator=(const IdleSessions&) = delete;

  // One with so many threads; NULL: there is none.
  std::unique_ptr<Session> Take(int threads);
  // One that was reset, with `bytes` of memory. The oldest goes where there are too many; where there is no room for
  // its memory or threads, it goes itself.
  void Give(std::unique_ptr<Session> session, uint64_t bytes) noexcept;

 private:
  struct Idle {
    std::unique_ptr<backend::ThreadLease> threads;
    std::unique_ptr<Session> session;  // goes before its threads are given back
    uint64_t bytes = 0;
  };

  // With the lock.
  Idle Remove(size_t index);

  const size_t most_;
  backend::SpareThreads* const threads_;
  std::mutex mutex_;
  backend::Reservation kept_;
  std::vector<Idle> idle_;  // oldest first
};

}  // namespace wasinn::tflite
