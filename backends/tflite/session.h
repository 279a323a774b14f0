// An interpreter with its inputs and outputs: what a context uses, and leaves to the next one.
#ifndef WASINN_BACKENDS_TFLITE_SESSION_H_
#define WASINN_BACKENDS_TFLITE_SESSION_H_

#include <wasinn/backend.h>

#include <functional>
#include <memory>

#include "common/cancel_gate.h"
#include "tflite/inputs.h"
#include "tflite/interpreter.h"
#include "tflite/outputs.h"
#include "tflite/signature.h"

namespace wasinn::tflite {

using MakeInterpreter = std::function<std::unique_ptr<Interpreter>(int threads)>;

// One thread at a time, but for Cancel.
class Session {
 public:
  Session(const Signature& signature, std::unique_ptr<Interpreter> interpreter);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int threads() const { return interpreter_->threads(); }
  Inputs& inputs() { return inputs_; }
  // `max_bytes`: of TensorFlow Lite's memory for values; 0: no limit.
  void Compute(uint64_t max_bytes, const ModelScan& scan);
  void Output(uint32_t index, wasinn_tensor* view);
  void TakeOutput(uint32_t index, wasinn_tensor* out);
  void DiscardOutputs(const MakeInterpreter& make);
  void Cancel();

  // For another guest: nothing of the last one can be read. False: this session must not be used again.
  bool Reset();

 private:
  void Allocate(uint64_t max_bytes, const ModelScan& scan);

  const Signature& signature_;
  std::unique_ptr<Interpreter> interpreter_;
  Inputs inputs_;
  Outputs outputs_;
  backend::CancelGate gate_;
  bool allocated_ = false;
  bool computed_ = false;
};

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_SESSION_H_
