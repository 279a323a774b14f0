// One inference in flight, and the backend's table of functions.
#include <wasinn/backend.h>

#include <chrono>
#include <exception>
#include <utility>

#include "base/call_gate.h"
#include "common/bases.h"
#include "common/reservation.h"
#include "common/table.h"
#include "common/throw.h"
#include "openvino/model.h"
#include "openvino/tensors.h"

namespace wasinn::openvino {

using backend::Error;
using backend::Throw;

// If a model is compiled for one thread, an inference on the caller's thread does not notice a cancellation: nothing
// would interrupt it. On OpenVINO's own thread it can be interrupted, which costs about 12 µs. So this is the way until
// an inference of the same shapes has been too short to be worth interrupting.
class Context : public backend::ContextBase {
 public:
  Context(const Model& model, const wasinn_slot_options& options);

  void Compute();
  void Output(uint32_t index, wasinn_tensor* view) {
    backend::CheckComputed(computed_);
    outputs_.View(index, view);
  }
  void TakeOutput(uint32_t index, wasinn_tensor* out) {
    backend::CheckComputed(computed_);
    kept_.Resize(model_.state_bytes() + outputs_.kept_bytes() + outputs_.StaysBehind(index));
    outputs_.Take(index, out);
  }
  void Cancel() {
    ContextBase::Cancel();
    gate_.Cancel([this] { model_.host().api().ov_infer_request_cancel(request_.get()); });
  }
  void DiscardOutputs();
  void Reset();
  void BindInput(uint32_t index, const wasinn_tensor& tensor) { inputs_.Bind(index, tensor); }
  void UnbindInput(uint32_t index) { inputs_.Unbind(index); }

 private:
  // `why`: the reason for losing a state, if there is one.
  void DropRequest(const char* why);
  // If shapes are open, only during a turn.
  void NewRequest(const char* why) {
    DropRequest(why);
    kept_.Resize(model_.state_bytes());
    request_.Renew();
  }
  // OpenVINO only frees outputs that it allocated with the request, and with it the state.
  void DropOutputs(const char* why) {
    computed_ = false;
    if (outputs_.has_dynamic()) DropRequest(why);
  }
  ov_status_e Infer();
  [[noreturn]] void Fail(ov_status_e status);

  const Model& model_;
  backend::Reservation kept_;  // for the state, and for outputs that were larger, or are discarded
  Inputs inputs_;              // and outputs: destroyed after the request, which points to their memory
  Outputs outputs_;
  Compiled::Request request_;
  base::CallGate gate_;               // for the inference: the request may be freed before the compute ends
  bool has_begun_ = false;            // the request has a state
  const char* lost_state_ = nullptr;  // with an earlier request: the reason
  bool is_short_ = false;             // the last inference, of the same shapes as the next
};

namespace {

constexpr std::chrono::microseconds kShort(1000);

// For outputs, in a request that is not in use: less than the cost of a new one, which takes about 7 µs.
constexpr uint64_t kWorthKeeping = 1 << 20;

// Reasons for losing a state.
constexpr char kFailed[] = "a compute of this model did not end well";
constexpr char kTooLarge[] = "its request keeps more for outputs than may still be held";

}  // namespace

Context::Context(const Model& model, const wasinn_slot_options& options)
    : ContextBase(options),
      model_(model),
      kept_(model.host().services(), options.account),
      inputs_(model, &request_),
      outputs_(model),
      request_(model.compiled()) {
  // A request has memory for outputs of a fixed shape from the beginning.
  if (max_bytes_ != 0 && outputs_.fixed_bytes() > max_bytes_) {
    Throw(WASINN_ERROR_TOO_LARGE, "the model's outputs take {} bytes: no more than {} are allowed",
          outputs_.fixed_bytes(), max_bytes_);
  }
  if (model.compiled()->has_open_shapes()) {
    kept_.Resize(model.state_bytes());
  } else {
    NewRequest(kFailed);
  }
}

void Context::DropRequest(const char* why) {
  outputs_.ForgetRequest();
  inputs_.ForgetRequest();
  request_.Drop();
  kept_.Resize(0);
  if (model_.has_state() && has_begun_) lost_state_ = why;
  has_begun_ = false;
}

void Context::Compute() {
  Begin();
  uint64_t bytes = 0;
  {
    Compiled::Turn turn(model_.compiled(), cancelled_);
    if (turn.generation() != request_.generation()) NewRequest(kFailed);
    if (const char* why = std::exchange(lost_state_, nullptr)) {
      Throw(WASINN_ERROR_RUNTIME, "the context has lost its state, for {}: the next compute starts again", why);
    }
    inputs_.BeforeRun();
    outputs_.BeforeRun(request_.get());
    gate_.Enter();
    const ov_status_e status = Infer();
    // A cancellation leaves nothing in the request: it lasts until the running inference ends.
    gate_.Leave();
    if (status != OK) {
      turn.Spoil();
      Fail(status);
    }
    has_begun_ = true;
    bytes = outputs_.AfterRun(request_.get(), inputs_);
  }
  if (max_bytes_ != 0 && bytes > max_bytes_) {
    DropOutputs(kFailed);
    Throw(WASINN_ERROR_TOO_LARGE, "the outputs of the compute take {} bytes: no more than {} are allowed", bytes,
          max_bytes_);
  }
  try {
    kept_.Resize(model_.state_bytes() + outputs_.kept_bytes());
    outputs_.CopyPassedOn();
  } catch (const std::exception&) {
    DropOutputs(kTooLarge);
    throw;
  }
  computed_ = true;
}

void Context::Fail(ov_status_e status) {
  const std::string message = model_.host().library().Message(status);
  // It would keep a model alive that no context uses any more.
  if (model_.compiled()->has_open_shapes()) DropRequest(kFailed);
  if (cancelled_ || status == INFER_CANCELLED) Throw(WASINN_ERROR_TIMEOUT, "the compute was cancelled: {}", message);
  throw Error(WASINN_ERROR_RUNTIME, message);
}

ov_status_e Context::Infer() {
  const OvApi& api = model_.host().api();
  if (!model_.single_thread()) return api.ov_infer_request_infer(request_.get());
  if (inputs_.TakeReshaped() || model_.may_loop()) is_short_ = false;
  if (is_short_) return api.ov_infer_request_infer(request_.get());
  const auto start = std::chrono::steady_clock::now();
  ov_status_e status = api.ov_infer_request_start_async(request_.get());
  if (status == OK) status = api.ov_infer_request_wait(request_.get());
  is_short_ = status == OK && std::chrono::steady_clock::now() - start < kShort;
  return status;
}

void Context::DiscardOutputs() {
  computed_ = false;
  outputs_.Discard();
  if (outputs_.most_bytes() == 0) return;
  if (!model_.has_state() && outputs_.most_bytes() > kWorthKeeping) return DropRequest(kFailed);
  try {
    kept_.Resize(model_.state_bytes() + outputs_.most_bytes());
  } catch (const Error&) {
    DropRequest(kTooLarge);
  }
}

// A request that had large outputs would keep their memory unused.
void Context::Reset() {
  computed_ = false;
  for (uint32_t i = 0; i < model_.signature().inputs().size(); ++i) inputs_.Unbind(i);
  outputs_.Discard();
  if (outputs_.most_bytes() > kWorthKeeping) DropRequest(kFailed);
}

}  // namespace wasinn::openvino

// If a host names such a backend, it also loads models of other formats (source.h); they belong to other backends.
const wasinn_backend* wasinn_backend_query(uint16_t host_abi_major, uint16_t /*host_abi_minor*/) {
  using namespace wasinn::openvino;
  return wasinn::backend::Query<Host, Model, Context>(host_abi_major, "openvino",
                                                      {.name = "openvino",
                                                       .version = WASINN_BACKEND_VERSION,
                                                       .formats = {},
                                                       .keys = Keys(),
                                                       .install = "scripts/deps.sh openvino",
                                                       .bind_align = 1});
}
