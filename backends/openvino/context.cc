#include "openvino/context.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "common/error.h"

namespace wasinn::openvino {

using backend::Error;

namespace {

constexpr std::chrono::microseconds kShort(1000);

}  // namespace

Context::Context(const Model& model, const wasinn_context_options& options)
    : model_(model),
      max_bytes_(options.max_bytes),
      kept_(model.host().services(), options.account),
      inputs_(model),
      outputs_(model, options.account),
      request_(nullptr, model.host().api().ov_infer_request_free) {
  // A request has memory for outputs of a fixed shape from the beginning.
  if (max_bytes_ != 0 && outputs_.fixed_bytes() > max_bytes_) {
    throw Error(WASINN_TOO_LARGE, fmt::format("the model's outputs take {} bytes: no more than {} are allowed",
                                              outputs_.fixed_bytes(), max_bytes_));
  }
  NewRequest();
}

void Context::NewRequest() {
  outputs_.UseRequest(nullptr);
  inputs_.UseRequest(nullptr);
  request_.reset();
  kept_.Resize(model_.state_bytes());
  lost_state_ = lost_state_ || (model_.has_state() && has_begun_);
  has_begun_ = false;
  request_ = model_.compiled()->NewRequest(&generation_);
  inputs_.UseRequest(request_.get());
  outputs_.UseRequest(request_.get());
}

void Context::Compute() {
  computed_ = false;
  {
    Compiled::Turn turn = Wait();
    if (turn.generation() != generation_) NewRequest();
    if (std::exchange(lost_state_, false)) {
      throw Error(WASINN_RUNTIME_ERROR,
                  "the context has lost its state, for a compute of this model did not end well: the next one begins "
                  "anew");
    }
    inputs_.BeforeRun();
    outputs_.BeforeRun();
    gate_.Enter();
    const ov_status_e status = Infer();
    // Nothing of a cancellation is left in the request: it lasts until the running inference ends.
    const bool cancelled = gate_.Leave();
    if (status != OK) {
      turn.Spoil();
      Fail(status, cancelled);
    }
    has_begun_ = true;
  }
  const uint64_t bytes = outputs_.AfterRun(inputs_);
  if (max_bytes_ != 0 && bytes > max_bytes_) {
    DropOutputs();
    throw Error(WASINN_TOO_LARGE, fmt::format("the outputs of the compute take {} bytes: no more than {} are allowed",
                                              bytes, max_bytes_));
  }
  try {
    kept_.Resize(model_.state_bytes() + outputs_.kept_bytes());
  } catch (const Error&) {
    DropOutputs();
    throw;
  }
  computed_ = true;
}

Compiled::Turn Context::Wait() {
  waiting_.Enter();
  try {
    Compiled::Turn turn(model_.compiled(), waiting_);
    waiting_.Leave();
    return turn;
  } catch (...) {
    waiting_.Leave();
    throw;
  }
}

void Context::Fail(ov_status_e status, bool cancelled) const {
  const std::string message = model_.host().library().Message(status);
  if (cancelled || status == INFER_CANCELLED) {
    throw Error(WASINN_TIMEOUT, fmt::format("the compute was cancelled: {}", message));
  }
  throw Error(WASINN_RUNTIME_ERROR, message);
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

void Context::CheckComputed() const {
  if (!computed_) throw Error(WASINN_INVALID_ARGUMENT, "there is no output before a compute has succeeded");
}

void Context::Output(uint32_t index, wasinn_tensor* view) {
  CheckComputed();
  outputs_.View(index, view);
}

void Context::TakeOutput(uint32_t index, wasinn_tensor* out) {
  CheckComputed();
  outputs_.Take(index, out);
}

// Only with the request does OpenVINO let go of outputs that it allocated, and then of the state, too.
void Context::DropOutputs() {
  computed_ = false;
  if (outputs_.has_dynamic()) NewRequest();
}

void Context::DiscardOutputs() {
  computed_ = false;
  outputs_.FreeSpares();
  if (!model_.has_state()) DropOutputs();
}

void Context::Cancel() {
  waiting_.Cancel([] {});
  gate_.Cancel([this] { model_.host().api().ov_infer_request_cancel(request_.get()); });
}

}  // namespace wasinn::openvino
