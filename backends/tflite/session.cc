#include "tflite/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"

namespace wasinn::tflite {

using backend::Error;

namespace {

constexpr const char* kNoOutput = "there is no output before a compute has succeeded";

}  // namespace

Session::Session(const Signature& signature, std::unique_ptr<Interpreter> interpreter)
    : signature_(signature),
      interpreter_(std::move(interpreter)),
      inputs_(signature, interpreter_->library()),
      outputs_(signature, interpreter_->library()) {}

void Session::Compute(uint64_t max_bytes, uint32_t tensors) {
  computed_ = false;
  Allocate(max_bytes, tensors);
  inputs_.CopyInto(*interpreter_);
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

void Session::Allocate(uint64_t max_bytes, uint32_t tensors) {
  const bool inputs_changed = inputs_.Apply(*interpreter_);
  const bool outputs_changed = outputs_.Apply(*interpreter_);
  if (allocated_ && !inputs_changed && !outputs_changed) return;
  allocated_ = false;
  if (interpreter_->library().allocate_tensors(interpreter_->get()) != kTfLiteOk) {
    // TensorFlow Lite is left half way: the next compute tells it everything again.
    inputs_.Forget();
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("the model cannot be prepared for inputs of these shapes: {}",
                                                     interpreter_->TakeMessages()));
  }
  CheckMemory(max_bytes, tensors);
  allocated_ = true;
}

// TensorFlow Lite allocates one block for the values of a graph, which it does not tell; it has not been touched yet.
void Session::CheckMemory(uint64_t max_bytes, uint32_t tensors) const {
  const TfLiteLibrary& library = interpreter_->library();
  if (max_bytes == 0 || library.tensor_at == nullptr || library.allocation_type == nullptr) return;
  uintptr_t first = UINTPTR_MAX, end = 0;
  uint64_t apart = 0;
  for (uint32_t i = 0; i < tensors; ++i) {
    const TfLiteTensor* tensor = library.tensor_at(interpreter_->get(), static_cast<int>(i));
    if (tensor == nullptr) continue;
    const uint64_t bytes = library.tensor_byte_size(tensor);
    const auto data = reinterpret_cast<uintptr_t>(library.tensor_data(tensor));
    switch (library.allocation_type(tensor)) {
      case kTfLiteArenaRw:
      case kTfLiteArenaRwPersistent:
        if (data == 0) break;
        first = std::min(first, data);
        end = std::max(end, data + bytes);
        break;
      case kTfLiteDynamic:
      case kTfLiteCustom:
        if (__builtin_add_overflow(apart, bytes, &apart)) apart = UINT64_MAX;
        break;
      default:
        break;
    }
  }
  uint64_t all = apart;
  if (end > first && __builtin_add_overflow(all, end - first, &all)) all = UINT64_MAX;
  if (all > max_bytes) {
    throw Error(WASINN_TOO_LARGE,
                fmt::format("the compute needs {} bytes: no more than {} are allowed", all, max_bytes));
  }
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
  const int n = threads();
  interpreter_ = make(n);
  inputs_.Forget();
  outputs_.Forget();
  allocated_ = false;
}

void Session::Cancel() {
  gate_.Cancel([this] { interpreter_->Cancel(); });
}

bool Session::Reset() {
  computed_ = false;
  inputs_.Reset();
  outputs_.Discard(*interpreter_);
  return interpreter_->library().reset_variable_tensors(interpreter_->get()) == kTfLiteOk;
}

}  // namespace wasinn::tflite
