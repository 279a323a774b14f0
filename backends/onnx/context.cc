// One inference in flight, and the backend's table of functions.
#include <wasinn/backend.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "common/bases.h"
#include "common/table.h"
#include "common/throw.h"
#include "onnx/call_scope.h"
#include "onnx/device_memory.h"
#include "onnx/model.h"
#include "onnx/tensors.h"

namespace wasinn::onnx {

using backend::Error;
using backend::Throw;

class Context : public backend::ContextBase {
 public:
  Context(const Model& model, const wasinn_slot_options& options);
  ~Context() {
    const DeviceTurn turn(model_.takes_turns());
    outputs_.Drop();
    binding_.reset();
  }

  // For the next compute; valid until it has returned.
  void SetKept(std::span<const uint32_t> kept) noexcept { kept_ = kept; }
  void Compute() {
    Begin();
    if (model_.takes_turns()) [[unlikely]]
      return ComputeInTurn();
    ComputeNow();
  }
  void Output(uint32_t index, wasinn_tensor* view) {
    backend::CheckComputed(computed_);
    const DeviceTurn turn(model_.takes_turns());
    outputs_.View(index, view);
  }
  bool has_outputs_elsewhere() const { return !outputs_.trusts_shapes(); }
  void Cancel() {
    const OrtApi& api = model_.host().api();
    api.ReleaseStatus(api.RunOptionsSetTerminate(run_options_.get()));
    cancelled_ = true;  // last, so that a compute which begins now sees both or neither
  }
  void DiscardOutputs() {
    const DeviceTurn turn(model_.takes_turns());
    computed_ = false;
    outputs_.Discard();
  }
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { inputs_.Bind(index, tensor); }
  void UnbindInput(uint32_t index) { inputs_.Unbind(index); }
  void BindOutput(uint32_t index, const wasinn_tensor& tensor) {
    const DeviceTurn turn(model_.takes_turns());
    outputs_.Bind(index, tensor);
  }
  void TakeOutput(uint32_t index, wasinn_tensor* out) {
    backend::CheckComputed(computed_);
    const DeviceTurn turn(model_.takes_turns());
    outputs_.Take(index, out);
  }

 private:
  // Other guests' computes may take long: this one's deadline also holds here.
  void ComputeInTurn() {
    const DeviceTurn turn(cancelled_);
    if (!turn.is_there()) Throw(WASINN_ERROR_TIMEOUT, "the compute was cancelled while it waited for the device");
    ComputeNow();
  }
  void ComputeNow();
  void Begin() {
    computed_ = false;
    if (!cancelled_) return;
    cancelled_ = false;
    // The flag of an earlier compute stays set until it is cleared.
    const OrtApi& api = model_.host().api();
    api.ReleaseStatus(api.RunOptionsUnsetTerminate(run_options_.get()));
  }
  void CheckBoundOutputs() const {
    if (max_bytes_ == 0 || outputs_.bindable_bytes() <= max_bytes_) return;
    Throw(WASINN_ERROR_TOO_LARGE, "the model's outputs take {} bytes: no more than {} are allowed in a compute",
          outputs_.bindable_bytes(), max_bytes_);
  }
  // NULL for success.
  OrtStatus* Run();
  [[noreturn]] void Fail(OrtStatus* status) const;

  const Model& model_;
  std::span<const uint32_t> kept_;
  OrtPtr<OrtRunOptions> run_options_;
  OrtPtr<OrtIoBinding> binding_;
  Inputs inputs_;
  Outputs outputs_;
  MemoryBudget budget_;
  uint64_t charge_id_;
};

namespace {

// ONNX Runtime has no code for a bound output with another shape than the computed one, and has changed its message.
bool IsOtherShape(std::string_view message) {
  return message.contains("computed output shape") || message.contains("shape verification failed");
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

inline void Context::ComputeNow() {
  outputs_.Keep(kept_);
  OrtStatus* status = Run();
  // A model may declare wrong shapes of outputs, and without bound buffers ONNX Runtime only warns about that.
  if (status != nullptr && IsOtherShape(model_.host().api().GetErrorMessage(status)) && outputs_.TrustNoShapes()) {
    model_.host().api().ReleaseStatus(status);
    status = Run();
  }
  if (status != nullptr) Fail(status);
  outputs_.AfterRun(budget_, cancelled_);
  computed_ = true;
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
  if (cancelled_) Throw(WASINN_ERROR_TIMEOUT, "the compute was cancelled: {}", message);
  if (budget_.refused() != 0) {
    Throw(WASINN_ERROR_TOO_LARGE,
          "the compute needs {} bytes more than the {} it uses: no more than {} are allowed: {}", budget_.refused(),
          max_bytes_ - budget_.limit() + budget_.used(), max_bytes_, message);
  }
  // Inputs are checked before the first node runs, so a node's error is not about the caller's argument.
  if (code == WASINN_ERROR_INVALID_ARGUMENT && message.contains("while running")) code = WASINN_ERROR_RUNTIME;
  throw Error(code, message);
}

}  // namespace wasinn::onnx

const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  using namespace wasinn::onnx;
  return wasinn::backend::Query<Host, Model, Context>(host_abi_major, "onnx",
                                                      {.name = "onnx",
                                                       .version = WASINN_BACKEND_VERSION,
                                                       .formats = {},
                                                       .keys = Keys(),
                                                       .install = "scripts/deps.sh onnxruntime",
                                                       .bind_align = 1});
}
