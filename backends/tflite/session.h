// An interpreter with its inputs and outputs: what a context uses, and leaves to the next one.
#ifndef WASINN_BACKENDS_TFLITE_SESSION_H_
#define WASINN_BACKENDS_TFLITE_SESSION_H_

#include <wasinn/backend.h>

#include <functional>
#include <memory>

#include "common/cancel_gate.h"
#include "common/reservation.h"
#include "tflite/inputs.h"
#include "tflite/interpreter.h"
#include "tflite/outputs.h"
#include "tflite/signature.h"

namespace wasinn::tflite {

class Model;

using MakeInterpreter = std::function<std::unique_ptr<Interpreter>(int threads)>;

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

  int threads() const { return interpreter_->threads(); }
  Inputs& inputs() { return inputs_; }
  void Compute(const Model& model, const Memory& memory);
  // Charges what the interpreter keeps. Throws where that is too much.
  void Charge(const Model& model, const Memory& memory) const;
  void Output(uint32_t index, wasinn_tensor* view);
  void TakeOutput(uint32_t index, wasinn_tensor* out);
  void DiscardOutputs(const MakeInterpreter& make);
  void Cancel();

  // For another guest: nothing of the last one can be read. False: this session must not be used again.
  bool Reset();

 private:
  void Allocate(const Model& model, const Memory& memory);
  void Grow(const Model& model, const Memory& memory);
  void Replace(std::unique_ptr<Interpreter> interpreter);

  const Signature& signature_;
  std::unique_ptr<Interpreter> interpreter_;
  Inputs inputs_;
  Outputs outputs_;
  backend::CancelGate gate_;
  bool allocated_ = false;
  bool has_run_ = false;  // the interpreter may have a state
  bool refused_ = false;  // it may have grown, uncharged
  bool computed_ = false;
};

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_SESSION_H_
