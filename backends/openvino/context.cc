#include "openvino/context.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>

#include "common/error.h"

namespace wasinn::openvino {

using backend::Error;

namespace {

constexpr std::chrono::microseconds kShort(1000);

// For outputs, in a request that is not in use: less than a new one is worth, which takes about 7 µs.
constexpr uint64_t kWorthKeeping = 1 << 20;

// Why a state is lost.
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
    throw Error(WASINN_ERROR_TOO_LARGE, fmt::format("the model's outputs take {} bytes: no more than {} are allowed",
                                                    outputs_.fixed_bytes(), max_bytes_));
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

void Context::NewRequest(const char* why) {
  DropRequest(why);
  kept_.Resize(model_.state_bytes());
  request_.Renew();
}

void Context::Compute() {
  Begin();
  uint64_t bytes = 0;
  {
    Compiled::Turn turn(model_.compiled(), cancelled_);
    if (turn.generation() != request_.generation()) NewRequest(kFailed);
    if (const char* why = std::exchange(lost_state_, nullptr)) {
      throw Error(WASINN_ERROR_RUNTIME,
                  fmt::format("the context has lost its state, for {}: the next compute begins anew", why));
    }
    inputs_.BeforeRun();
    outputs_.BeforeRun(request_.get());
    gate_.Enter();
    const ov_status_e status = Infer();
    // Nothing of a cancellation is left in the request: it lasts until the running inference ends.
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
    throw Error(
        WASINN_ERROR_TOO_LARGE,
        fmt::format("the outputs of the compute take {} bytes: no more than {} are allowed", bytes, max_bytes_));
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
  // It would keep alive what nobody computes with any more.
  if (model_.compiled()->has_open_shapes()) DropRequest(kFailed);
  if (cancelled_ || status == INFER_CANCELLED) {
    throw Error(WASINN_ERROR_TIMEOUT, fmt::format("the compute was cancelled: {}", message));
  }
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

void Context::Output(uint32_t index, wasinn_tensor* view) {
  backend::CheckComputed(computed_);
  outputs_.View(index, view);
}

void Context::TakeOutput(uint32_t index, wasinn_tensor* out) {
  backend::CheckComputed(computed_);
  kept_.Resize(model_.state_bytes() + outputs_.kept_bytes() + outputs_.StaysBehind(index));
  outputs_.Take(index, out);
}

// Only with the request does OpenVINO let go of outputs that it allocated, and then of the state, too.
void Context::DropOutputs(const char* why) {
  computed_ = false;
  if (outputs_.has_dynamic()) DropRequest(why);
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

// A request that had large outputs would keep their memory for nobody.
void Context::Reset() {
  computed_ = false;
  for (uint32_t i = 0; i < model_.signature().inputs().size(); ++i) inputs_.Unbind(i);
  outputs_.Discard();
  if (outputs_.most_bytes() > kWorthKeeping) DropRequest(kFailed);
}

void Context::Cancel() {
  ContextBase::Cancel();
  gate_.Cancel([this] { model_.host().api().ov_infer_request_cancel(request_.get()); });
}

}  // namespace wasinn::openvino
