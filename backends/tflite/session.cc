#include "tflite/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "tflite/memory.h"
#include "tflite/model.h"

namespace wasinn::tflite {

using backend::Error;

namespace {

constexpr const char* kNoOutput = "there is no output before a compute has succeeded";

void CheckBytes(uint64_t bytes, uint64_t max_bytes) {
  if (max_bytes == 0 || bytes <= max_bytes) return;
  throw Error(WASINN_TOO_LARGE,
              fmt::format("the compute needs {} bytes: no more than {} are allowed", bytes, max_bytes));
}

}  // namespace

Session::Session(const Signature& signature, std::unique_ptr<Interpreter> interpreter)
    : signature_(signature),
      interpreter_(std::move(interpreter)),
      inputs_(signature, interpreter_->library()),
      outputs_(signature, interpreter_->library()) {}

void Session::Compute(const Model& model, const Memory& memory) {
  computed_ = false;
  Allocate(model, memory);
  inputs_.CopyInto(*interpreter_);
  has_run_ = true;
  gate_.Enter();
  const TfLiteStatus status = interpreter_->library().invoke(interpreter_->get());
  const bool cancelled = gate_.Leave();
  if (status != kTfLiteOk) {
    const std::string message = interpreter_->TakeMessages();
    if (cancelled) throw Error(WASINN_TIMEOUT, fmt::format("the compute was cancelled: {}", message));
    throw Error(WASINN_RUNTIME_ERROR, message);
  }
  outputs_.AfterRun(*interpreter_, inputs_);
  computed_ = true;
}

void Session::Allocate(const Model& model, const Memory& memory) {
  const bool inputs_changed = inputs_.Apply(*interpreter_);
  const bool outputs_changed = outputs_.Apply(*interpreter_);
  if (allocated_ && !inputs_changed && !outputs_changed) return;
  allocated_ = false;
  CheckBytes(memory.needed, memory.max_bytes);
  refused_ = true;  // until all is well
  try {
    Grow(model, memory);
  } catch (const Error& error) {
    // What it has taken goes with it only.
    const bool loses_state = std::exchange(has_run_, false) && model.scan().keeps_state;
    Replace(model.NewInterpreter(threads()));
    memory.kept->Resize(std::min(memory.kept->bytes(), model.LastingBytes(*interpreter_)));
    if (!loses_state) throw;
    throw Error(error.code(), fmt::format("{}; the context has lost its state by that", error.what()));
  }
  refused_ = false;
  allocated_ = true;
}

void Session::Grow(const Model& model, const Memory& memory) {
  if (interpreter_->library().allocate_tensors(interpreter_->get()) != kTfLiteOk) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("the model cannot be prepared for inputs of these shapes: {}",
                                                     interpreter_->TakeMessages()));
  }
  // It has not been touched yet.
  CheckBytes(std::max(PlanOf(*interpreter_, model.scan()).all(), memory.needed), memory.max_bytes);
  Charge(model, memory);
}

// An interpreter never gives memory back, whatever it needs later.
void Session::Charge(const Model& model, const Memory& memory) const {
  memory.kept->Resize(std::max({memory.kept->bytes(), model.LastingBytes(*interpreter_), memory.needed}));
}

void Session::Output(uint32_t index, wasinn_tensor* view) {
  if (!computed_) throw Error(WASINN_INVALID_ARGUMENT, kNoOutput);
  outputs_.View(*interpreter_, index, view);
}

void Session::TakeOutput(uint32_t index, wasinn_tensor* out) {
  if (!computed_) throw Error(WASINN_INVALID_ARGUMENT, kNoOutput);
  outputs_.Take(*interpreter_, index, out);
}

void Session::DiscardOutputs(const MakeInterpreter& make) {
  computed_ = false;
  if (outputs_.Discard(*interpreter_)) return;
  Replace(make(threads()));
}

void Session::Replace(std::unique_ptr<Interpreter> interpreter) {
  interpreter_ = std::move(interpreter);
  inputs_.Forget();
  outputs_.Forget();
  allocated_ = false;
  refused_ = false;
}

void Session::Cancel() {
  gate_.Cancel([this] { interpreter_->Cancel(); });
}

bool Session::Reset() {
  computed_ = false;
  inputs_.Reset();
  outputs_.Reset();
  if (refused_ || !outputs_.Discard(*interpreter_)) return false;
  return interpreter_->library().reset_variable_tensors(interpreter_->get()) == kTfLiteOk;
}

}  // namespace wasinn::tflite
