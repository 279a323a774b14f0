// An interpreter with its inputs and outputs: what a context uses, and leaves to the next one.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/reservation.h"
#include "tflite/inputs.h"
#include "tflite/interpreter.h"
#include "tflite/outputs.h"
#include "tflite/signature.h"

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
  void Output(uint32_t index, wasinn_tensor* view);
  // There are none until the next compute. Of what they hold, only the interpreter can free HeldByOutputs().
  void DiscardOutputs();
  uint64_t HeldByOutputs() const;
  // The outputs of another session are the context's from now on. Returns what these hold all the same.
  uint64_t SetOutputsAside();
  // Frees all that it holds for outputs. With a state, that is lost, which the next compute says.
  void FreeOutputs(bool has_state);
  // Within Compute.
  void Cancel() const;

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

}  // namespace wasinn::tflite
