#include "core/inference/async_compute.h"

#include <chrono>
#include <utility>

#include "core/inference/context.h"
#include "core/runtime/clock.h"

namespace wasinn::core {

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
  status_ = TryGuarded([&] { return BeginNow(); });
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
      notify([&compute](bool has_turn) {
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
  status_ = TryGuarded([&]() -> Status {
    RETURN_IF_ERROR(kind_ == Kind::kStep ? context_.PrepareStep() : context_.Prepare());
    run_.emplace(context_.run_);
    turns_.emplace(*this, computers);
    return Status();
  });
  if (ok() && !TakeTurns()) return;
  if (!ok()) return End();
  if (may_stay_ && context_.is_quick_) return ComputeNow();
  computers.executor.Begin(std::move(turns_->goes_on));
}

// False: it waits for one, and perhaps another thread has it already.
bool AsyncCompute::TakeTurns() noexcept {
  bool waits = false;
  std::optional<Status> status = TryGuarded([&] {
    while (!waits && turns_->next != nullptr) {
      turns_->goes_on = Executor::End(turns_->computers.share, [this] { GoOn(); });
      Scheduler::Turn& turn = *turns_->next;
      const bool is_hosts = &turn == &turns_->of_host;
      const void* const model =
          is_hosts && context_.graph()->counts_among_computes() ? context_.graph()->turns() : nullptr;
      waits = !turn.TakeOrWait(context_.share_, context_.waiter_, model, turns_->notify);
      if (!waits) turns_->next = is_hosts ? nullptr : &turns_->of_host;
    }
    return Status();
  });
  if (waits) return false;
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
  if (ok() && !context_.run_.cancelled()) status_ = TryGuarded([&] { return Run(); });
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
  const bool has_memory = status_.has_value();
  std::optional<Status> status = TryGuarded([&] { return EndNow(has_memory ? *std::move(status_) : Status()); });
  if (!has_memory) status.reset();
  run_.reset();
  turns_.reset();  // after a cancel, which calls one of its functions
  (void)TryGuarded([&] {
    EndCount(status ? status->code() : WASINN_ERROR_RUNTIME);
    return Status();
  });
  const Ended ended = std::move(ended_);
  ended(std::move(status));
}

Status AsyncCompute::EndNow(Status status) {
  if (goes_on_) {
    Status ended = context_.session_->End(request_, std::exchange(error_, nullptr));
    if (status.ok()) status = std::move(ended);
  }
  if (!run_) return status;
  if (turns_ && turns_->cancelled) {
    turns_->next->EndWait(context_.waiter_);
    EndQueue();
    status = Context::StillWaits(turns_->next->scheduler());
  }
  const bool overdue = run_->End();
  status = context_.EndRun(std::move(status), overdue);
  return status.ok() && memory_ != nullptr ? context_.WriteOutputs(*memory_) : std::move(status);
}

}  // namespace wasinn::core
