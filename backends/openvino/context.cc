#include "openvino/context.h"

#include <fmt/format.h>

#include "common/error.h"

namespace wasinn::openvino {

using backend::Error;

namespace {

OvPtr<ov_infer_request_t> MakeRequest(const Model& model) {
  ov_infer_request_t* request = nullptr;
  const OvApi& api = model.host().api();
  model.host().library().Check(api.ov_compiled_model_create_infer_request(model.compiled(), &request),
                               "making an infer request");
  return {request, api.ov_infer_request_free};
}

}  // namespace

Context::Context(const Model& model, const wasinn_context_options& options)
    : model_(model),
      max_bytes_(options.max_bytes),
      inputs_(model),
      outputs_(model),
      request_(nullptr, model.host().api().ov_infer_request_free) {
  // A request has memory for outputs of a fixed shape from the beginning.
  if (max_bytes_ != 0 && outputs_.fixed_bytes() > max_bytes_) {
    throw Error(WASINN_TOO_LARGE, fmt::format("the model's outputs take {} bytes: no more than {} are allowed",
                                              outputs_.fixed_bytes(), max_bytes_));
  }
  request_ = MakeRequest(model);
  inputs_.UseRequest(request_.get());
  outputs_.UseRequest(request_.get());
}

void Context::Compute() {
  computed_ = false;
  inputs_.BeforeRun();
  outputs_.BeforeRun();
  const OvLibrary& library = model_.host().library();
  gate_.Enter();
  const ov_status_e status = library.api().ov_infer_request_infer(request_.get());
  // Nothing of a cancellation is left in the request: it lasts until the running inference ends.
  const bool cancelled = gate_.Leave();
  if (status != OK) {
    const std::string message = library.Message(status);
    if (cancelled || status == INFER_CANCELLED) {
      throw Error(WASINN_TIMEOUT, fmt::format("the compute was cancelled: {}", message));
    }
    throw Error(WASINN_RUNTIME_ERROR, message);
  }
  const uint64_t bytes = outputs_.AfterRun();
  if (max_bytes_ != 0 && bytes > max_bytes_) {
    DiscardOutputs();
    throw Error(WASINN_TOO_LARGE, fmt::format("the outputs of the compute take {} bytes: no more than {} are allowed",
                                              bytes, max_bytes_));
  }
  computed_ = true;
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

// Only with the request does OpenVINO let go of outputs that it allocated.
void Context::DiscardOutputs() {
  computed_ = false;
  if (!outputs_.has_allocated()) return;
  outputs_.UseRequest(nullptr);
  inputs_.UseRequest(nullptr);
  request_.reset();
  request_ = MakeRequest(model_);
  inputs_.UseRequest(request_.get());
  outputs_.UseRequest(request_.get());
}

void Context::Cancel() {
  gate_.Cancel([this] { model_.host().api().ov_infer_request_cancel(request_.get()); });
}

}  // namespace wasinn::openvino
