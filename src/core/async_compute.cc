#include "core/async_compute.h"

#include <exception>
#include <new>
#include <utility>

#include "core/context_parts.h"

namespace wasinn::core {
namespace {

// False: there was not even memory to say that there is none.
template <typename Function>
bool Guarded(Status& status, Function&& function) noexcept try {
  try {
    status = function();
  } catch (const std::bad_alloc&) {
    status = Status(WASINN_RUNTIME_ERROR, "the host is out of memory");
  } catch (const std::exception& error) {
    status = Status(WASINN_RUNTIME_ERROR, error.what());
  }
  return true;
} catch (...) {
  return false;
}

}  // namespace

void Completion::Done(void* end, wasinn_error* error) noexcept {
  auto* self = static_cast<End*>(end);
  if (self->is_expected.exchange(false, std::memory_order_acq_rel)) return self->compute->Tell(error);
  self->backend.LogOwn(WASINN_LOG_ERROR, "the backend told the end of a compute that was over");
  if (error != nullptr) error->release(error);
}

AsyncCompute::AsyncCompute(Context& context, const GuestMemory& memory, Executor& executor, Executor::Share& share,
                           Ended ended)
    : context_(context),
      memory_(memory),
      executor_(executor),
      end_(share, [this] { End(); }),
      ended_(std::move(ended)) {}

void AsyncCompute::Begin() noexcept {
  CountOne(context_.counts_.computes);
  context_.meter_.Begin(Stage::kInference);
  bool goes_on = false;
  has_memory_ = Guarded(status_, [&] { return BeginNow(goes_on); });
  if (goes_on && state_.exchange(State::kReturned, std::memory_order_acq_rel) != State::kTold) return;
  End();
}

Status AsyncCompute::BeginNow(bool& goes_on) {
  if (Status status = context_.BeginExecuting(&memory_); !status.ok()) return status;
  run_.emplace(context_.run_);
  return context_.run_.cancelled() ? Status() : BeginInBackend(goes_on);
}

Status AsyncCompute::BeginInBackend(bool& goes_on) {
  ContextInputs& inputs = context_.inputs_;
  if (inputs.any_lent() || inputs.any_left()) {
    binding_.emplace(inputs, &memory_);
    if (Status status = context_.Bind(*binding_); !status.ok()) return status;
  }
  if (Status status = context_.outputs_.Bind(); !status.ok()) return status;
  options_ = context_.ComputeOptions();
  call_.emplace(context_.slot_);
  Completion& completion = context_.completion_;
  void* const end = completion.Expect(*this);
  wasinn_error* const error =
      context_.slot_.table().compute_async(context_.slot_.get(), &options_, &result_, &Completion::Done, end);
  goes_on = error == nullptr || !completion.Withdraw();
  return context_.slot_.StatusOf(error);
}

void AsyncCompute::Tell(wasinn_error* error) noexcept {
  call_->Close();
  error_ = error;
  // Whoever is told may free all of this.
  if (state_.exchange(State::kTold, std::memory_order_acq_rel) == State::kReturned) executor_.Begin(std::move(end_));
}

void AsyncCompute::End() noexcept {
  Status status;
  has_memory_ = Guarded(status, [&] { return EndNow(); }) && has_memory_;
  binding_.reset();
  run_.reset();
  const wasinn_code code = has_memory_ ? status.code() : WASINN_RUNTIME_ERROR;
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
  call_.reset();
  if (options_.struct_size != 0) {  // the backend was asked
    Status told = context_.slot_.StatusOf(std::exchange(error_, nullptr));
    if (status_.ok()) status_ = std::move(told);
    context_.meter_.End(Stage::kCompute);
    context_.outputs_.SetElsewhere((result_.flags & WASINN_OUTPUTS_ELSEWHERE) != 0);
  }
  binding_.reset();
  if (!run_) return std::move(status_);
  const bool overdue = run_->End();
  return context_.CountAndWrite(context_.EndExecuting(std::move(status_), overdue), &memory_);
}

}  // namespace wasinn::core
