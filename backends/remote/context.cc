#include "remote/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "remote/errors.h"

namespace wasinn::remote {

using backend::Error;

namespace {

Deadline After(uint64_t milliseconds) {
  if (milliseconds == 0) return std::nullopt;
  constexpr uint64_t kYear = uint64_t{365} * 24 * 60 * 60 * 1000;
  return std::chrono::system_clock::now() + std::chrono::milliseconds(std::min(milliseconds, kYear));
}

}  // namespace

Context::Context(Model& model, const wasinn_slot_options& options)
    : model_(model),
      slot_max_bytes_(options.max_bytes),
      message_(model.host().services(), options.account),
      inputs_(model.signature()),
      outputs_(model.signature()) {}

void Context::Compute(std::span<const uint32_t> wanted) {
  computed_ = false;
  inputs_.Choose();
  outputs_.Choose(wanted);
  Servers& servers = model_.servers();
  const std::vector<std::string> names = outputs_.WantedNames();
  const InferRequest request(servers.address(), inputs_, names);
  const uint64_t most = servers.config().connection.max_message_bytes;
  if (request.bytes() > most) {
    throw Error(WASINN_TOO_LARGE,
                fmt::format("the request has {} bytes: max_message_bytes allows {}", request.bytes(), most));
  }
  const Answered answered = Ask(request);
  if (!answered.status.ok()) {
    outputs_.Discard();
    ThrowStatus(answered.status, servers.endpoint(answered.server));
  }
  try {
    outputs_.Take(answered.message, max_bytes_);
  } catch (const Error& error) {
    outputs_.Discard();
    throw Error(error.code(), fmt::format("{}: {}", servers.endpoint(answered.server), error.what()));
  }
  computed_ = true;
}

Answered Context::Ask(const InferRequest& request) {
  Servers& servers = model_.servers();
  message_.Resize(request.bytes());
  call_ = std::make_shared<Call>(servers, "ModelInfer", request.Write(), After(deadline_ms_),
                                 servers.config().is_idempotent);
  gate_.Enter();
  Answered answered = Wait(*call_);
  const bool is_cancelled = gate_.Leave();
  call_.reset();
  message_.Resize(0);
  if (is_cancelled && answered.status.error_code() == grpc::CANCELLED) {
    answered.status = {grpc::CANCELLED, "the compute was cancelled: the server had not answered"};
  }
  return answered;
}

void Context::Cancel() {
  gate_.Cancel([this] { call_->Cancel(); });
}

void Context::RequireOutputs() const {
  if (!computed_) throw Error(WASINN_INVALID_ARGUMENT, "there is no output before a compute has succeeded");
}

void Context::Output(uint32_t index, wasinn_tensor* view) {
  RequireOutputs();
  outputs_.View(index, view);
}

void Context::TakeOutput(uint32_t index, wasinn_tensor* out) {
  RequireOutputs();
  outputs_.Give(index, out);
}

void Context::DiscardOutputs() {
  computed_ = false;
  outputs_.Discard();
}

std::span<const wasinn_io* const> Context::Outputs() {
  RequireOutputs();
  return outputs_.Ios();
}

}  // namespace wasinn::remote
