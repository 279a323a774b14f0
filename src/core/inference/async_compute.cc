#include "core/inference/async_compute.h"

#include <chrono>
#include <utility>

#include "core/inference/context.h"
#include "core/runtime/clock.h"

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

AsyncCompute::AsyncCompute(Context& context, const GuestMemory* memory, Executor& executor, Executor::Share& share,
                           Ended ended, Kind kind)
    : context_(context),
      memory_(memory),
      executor_(executor),
      kind_(kind),
      end_(share, [this] { End(); }),
      ended_(std::move(ended)),
      request_(context.Request()) {}

// The first step of a generation is counted as a compute when its inputs are set.
void AsyncCompute::BeginCount() noexcept {
  if (kind_ == Kind::kStep) return;
  CountOne(context_.counts_.computes);
  context_.meter_.Begin(Stage::kInference);
}

void AsyncCompute::EndCount(wasinn_code code) {
  if (kind_ == Kind::kStep) return context_.meter_.Count(Event::kStep, code);
  context_.meter_.Count(Event::kInference, code);
  context_.meter_.End(Stage::kInference, code);
}

void AsyncCompute::Begin() noexcept {
  BeginCount();
  has_memory_ = Guarded(status_, [&] { return BeginNow(); });
  if (goes_on_ && state_.exchange(State::kReturned, std::memory_order_acq_rel) != State::kReported) return;
  End();
}

Status AsyncCompute::BeginNow() {
  RETURN_IF_ERROR(context_.Prepare());
  run_.emplace(context_.run_);
  return context_.run_.cancelled() ? Status() : context_.session_->Begin(request_, *this, goes_on_);
}

// ---- In turn

AsyncCompute::InTurn::InTurn(AsyncCompute& compute, Computers& its_computers)
    : computers(its_computers),
      told([&compute](bool has_turn) {
        compute.turns_->cancelled = !has_turn;
        has_turn ? compute.turns_->computers.executor.Begin(std::move(compute.turns_->goes_on))
                 : compute.executor_.Begin(std::move(compute.end_));
      }),
      of_host(compute.context_.graph()->counts_among_computes() ? compute.context_.scheduler_ : computers.others),
      next(&of_host) {
  if (Scheduler* const scheduler = compute.context_.graph()->scheduler()) next = &of_model.emplace(*scheduler);
}

void AsyncCompute::BeginInTurn(Computers& computers, bool may_stay) noexcept {
  may_stay_ = may_stay;
  BeginCount();
  has_memory_ = Guarded(status_, [&]() -> Status {
    RETURN_IF_ERROR(kind_ == Kind::kStep ? context_.PrepareStep() : context_.Prepare());
    run_.emplace(context_.run_);
    turns_.emplace(*this, computers);
    return Status();
  });
  const bool begun = has_memory_ && status_.ok();
  if (begun && !TakeTurns()) return;
  if (!has_memory_ || !status_.ok()) return End();
  if (may_stay_ && context_.is_quick_) return ComputeNow();
  computers.executor.Begin(std::move(turns_->goes_on));
}

// False: it waits for one, and perhaps another thread has it already.
bool AsyncCompute::TakeTurns() noexcept {
  bool waits = false;
  Status status;
  const bool has_memory = Guarded(status, [&] {
    while (!waits && turns_->next != nullptr) {
      turns_->goes_on = Executor::End(turns_->computers.share, [this] { GoOn(); });
      Scheduler::Turn& turn = *turns_->next;
      const bool is_hosts = &turn == &turns_->of_host;
      const void* const model =
          is_hosts && context_.graph()->counts_among_computes() ? context_.graph()->turns() : nullptr;
      waits = !turn.TakeOrWait(context_.share_, context_.waiter_, model, turns_->told);
      if (!waits) turns_->next = is_hosts ? nullptr : &turns_->of_host;
    }
    return Status();
  });
  if (waits) return false;
  has_memory_ = has_memory;
  status_ = std::move(status);
  return true;
}

void AsyncCompute::GoOn() noexcept {
  if (Scheduler::Turn* const given = turns_->next) {
    given->EndWait(context_.waiter_);
    turns_->next = given == &turns_->of_host ? nullptr : &turns_->of_host;
  }
  if (TakeTurns()) ComputeNow();
}

// Sessions that take no turn measure their own waits.
void AsyncCompute::EndQueue() {
  if (kind_ == Kind::kCompute && context_.graph()->counts_among_computes()) context_.meter_.End(Stage::kQueue);
}

void AsyncCompute::ComputeNow() noexcept {
  EndQueue();
  if (has_memory_ && status_.ok() && !context_.run_.cancelled()) {
    has_memory_ = Guarded(status_, [&] { return Run(); });
  }
  turns_.reset();
  End();
}

Status AsyncCompute::Run() {
  if (kind_ == Kind::kStep) return context_.session_->Step(request_);
  if (!may_stay_) return context_.session_->Run(request_);
  // Another thread costs 10 µs, so a few times that may hold up the guest.
  constexpr std::chrono::microseconds kQuick{50};
  const auto begin = SteadyClock::now();
  Status status = context_.session_->Run(request_);
  context_.is_quick_ = SteadyClock::now() - begin < kQuick;
  return status;
}

// ---- The end

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
  turns_.reset();  // after a cancel, which calls one of its functions
  const wasinn_code code = has_memory_ ? status.code() : WASINN_ERROR_RUNTIME;
  Status counted;
  (void)Guarded(counted, [&] {
    EndCount(code);
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
  if (turns_ && turns_->cancelled) {
    turns_->next->EndWait(context_.waiter_);
    EndQueue();
    status_ = Context::StillWaits(turns_->next->scheduler());
  }
  const bool overdue = run_->End();
  Status status = context_.EndRun(std::move(status_), overdue);
  return status.ok() && memory_ != nullptr ? context_.WriteOutputs(*memory_) : std::move(status);
}

}  // namespace wasinn::core
