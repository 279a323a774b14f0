#include "core/inference/async_compute.h"

#include <utility>

#include "core/inference/context.h"

namespace wasinn::core {
namespace {

// False: there was no memory, not even for the error.
template <typename Function>
bool Guarded(Status& status, Function&& function) noexcept try {
  status = core::Guarded(function);
  return true;
} catch (...) {
  return false;
}

}  // namespace

AsyncCompute::AsyncCompute(Context& context, const GuestMemory& memory, Executor& executor, Executor::Share& share,
                           Ended ended)
    : context_(context),
      memory_(memory),
      executor_(executor),
      end_(share, [this] { End(); }),
      ended_(std::move(ended)),
      request_(context.Request()) {}

void AsyncCompute::Begin() noexcept {
  CountOne(context_.counts_.computes);
  context_.meter_.Begin(Stage::kInference);
  has_memory_ = Guarded(status_, [&] { return BeginNow(); });
  if (goes_on_ && state_.exchange(State::kReturned, std::memory_order_acq_rel) != State::kReported) return;
  End();
}

Status AsyncCompute::BeginNow() {
  RETURN_IF_ERROR(context_.Prepare());
  run_.emplace(context_.run_);
  return context_.run_.cancelled() ? Status() : context_.session_->Begin(request_, *this, goes_on_);
}

void AsyncCompute::ReportEnd(wasinn_error* error) noexcept {
  context_.session_->CloseGate();
  error_ = error;
  // The owner may free this object in `ended`.
  if (state_.exchange(State::kReported, std::memory_order_acq_rel) == State::kReturned)
    executor_.Begin(std::move(end_));
}

void AsyncCompute::End() noexcept {
  Status status;
  has_memory_ = Guarded(status, [&] { return EndNow(); }) && has_memory_;
  run_.reset();
  const wasinn_code code = has_memory_ ? status.code() : WASINN_ERROR_RUNTIME;
  Status counted;
  (void)Guarded(counted, [&] {
    context_.meter_.Count(Event::kInference, code);
    context_.meter_.End(Stage::kInference, code);
    return Status();
  });
  const Ended ended = std::move(ended_);
  ended(has_memory_ ? &status : nullptr);
}

Status AsyncCompute::EndNow() {
  if (goes_on_) {
    Status told = context_.session_->End(request_, std::exchange(error_, nullptr));
    if (status_.ok()) status_ = std::move(told);
  }
  if (!run_) return std::move(status_);
  const bool overdue = run_->End();
  Status status = context_.EndRun(std::move(status_), overdue);
  return status.ok() && !context_.wanted_.all() ? context_.WriteOutputs(memory_) : std::move(status);
}

}  // namespace wasinn::core
