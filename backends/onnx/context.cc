#include "onnx/context.h"

#include <fmt/format.h>

#include <string_view>

#include "common/error.h"
#include "onnx/call_scope.h"

namespace wasinn::onnx {

using backend::Error;

namespace {

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// ONNX Runtime has no code for a bound output that has another shape than the computed one, and has changed its words.
bool IsOtherShape(std::string_view message) {
  return Contains(message, "computed output shape") || Contains(message, "shape verification failed");
}

}  // namespace

Context::Context(const Model& model, const wasinn_slot_options& options)
    : ContextBase(options),
      model_(model),
      run_options_(model.host().library().Make("run options", model.host().api().ReleaseRunOptions,
                                               model.host().api().CreateRunOptions)),
      binding_(model.host().library().Make("binding", model.host().api().ReleaseIoBinding,
                                           model.host().api().CreateIoBinding, model.session())),
      inputs_(model, binding_.get()),
      outputs_(model, binding_.get()),
      charge_id_(model.host().NewChargeId()) {}

Context::~Context() {
  const DeviceTurn turn(model_.takes_turns());
  outputs_.Drop();
  binding_.reset();
}

inline void Context::Begin() {
  computed_ = false;
  if (!cancelled_.exchange(false)) return;
  // The flag of an earlier compute stays set until somebody clears it.
  const OrtApi& api = model_.host().api();
  api.ReleaseStatus(api.RunOptionsUnsetTerminate(run_options_.get()));
}

inline void Context::ComputeNow() {
  outputs_.Keep(kept_);
  OrtStatus* status = Run();
  // What a model says of its outputs' shapes may be wrong, and without our buffers ONNX Runtime only warns of it.
  if (status != nullptr && IsOtherShape(model_.host().api().GetErrorMessage(status)) && outputs_.TrustNoShapes()) {
    model_.host().api().ReleaseStatus(status);
    status = Run();
  }
  if (status != nullptr) Fail(status);
  outputs_.AfterRun(budget_);
  computed_ = true;
}

void Context::Compute() {
  Begin();
  if (model_.takes_turns()) [[unlikely]]
    return ComputeInTurn();
  ComputeNow();
}

// Other guests' computes may take long: this one's deadline holds here, too.
void Context::ComputeInTurn() {
  const DeviceTurn turn(cancelled_);
  if (!turn.is_there()) throw Error(WASINN_ERROR_TIMEOUT, "the compute was cancelled while it waited for the device");
  ComputeNow();
}

void Context::CheckBoundOutputs() const {
  if (max_bytes_ == 0 || outputs_.bindable_bytes() <= max_bytes_) return;
  throw Error(WASINN_ERROR_TOO_LARGE,
              fmt::format("the model's outputs take {} bytes: no more than {} are allowed in a compute",
                          outputs_.bindable_bytes(), max_bytes_));
}

OrtStatus* Context::Run() {
  CheckBoundOutputs();
  budget_.Begin(++charge_id_, max_bytes_ == 0 ? UINT64_MAX : max_bytes_ - outputs_.bindable_bytes());
  CallScope::Subject subject;
  subject.log = &model_.host().log();
  subject.budget = &budget_;
  subject.cache = model_.host().cache();
  subject.cancelled = &cancelled_;
  const CallScope scope(subject);
  inputs_.BindForRun(budget_);
  outputs_.BeforeRun();
  const OrtApi& api = model_.host().api();
  OrtStatus* status = api.RunWithBinding(model_.session(), run_options_.get(), binding_.get());
  inputs_.AfterRun();
  return status;
}

void Context::Fail(OrtStatus* status) const {
  wasinn_code code = WASINN_ERROR_RUNTIME;
  const std::string message = model_.host().library().Message(status, &code);
  if (cancelled_) throw Error(WASINN_ERROR_TIMEOUT, fmt::format("the compute was cancelled: {}", message));
  if (budget_.refused() != 0) {
    throw Error(WASINN_ERROR_TOO_LARGE,
                fmt::format("the compute needs {} bytes more than the {} it uses: no more than {} are allowed: {}",
                            budget_.refused(), max_bytes_ - budget_.limit() + budget_.used(), max_bytes_, message));
  }
  // Inputs are checked before the first node runs; what a node complains of is no argument of the caller's.
  if (code == WASINN_ERROR_INVALID_ARGUMENT && Contains(message, "while running")) code = WASINN_ERROR_RUNTIME;
  throw Error(code, message);
}

void Context::Output(uint32_t index, wasinn_tensor* view) {
  backend::CheckComputed(computed_);
  const DeviceTurn turn(model_.takes_turns());
  outputs_.View(index, view);
}

void Context::TakeOutput(uint32_t index, wasinn_tensor* out) {
  backend::CheckComputed(computed_);
  const DeviceTurn turn(model_.takes_turns());
  outputs_.Take(index, out);
}

void Context::DiscardOutputs() {
  const DeviceTurn turn(model_.takes_turns());
  computed_ = false;
  outputs_.Discard();
}

void Context::BindOutput(uint32_t index, const wasinn_tensor& tensor) {
  const DeviceTurn turn(model_.takes_turns());
  outputs_.Bind(index, tensor);
}

void Context::Cancel() {
  const OrtApi& api = model_.host().api();
  api.ReleaseStatus(api.RunOptionsSetTerminate(run_options_.get()));
  cancelled_ = true;  // last, so that a compute which begins now finds both or neither
}

}  // namespace wasinn::onnx
