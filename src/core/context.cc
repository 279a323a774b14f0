#include "core/context.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/context_parts.h"
#include "core/interruptible.h"
#include "core/on_behalf.h"

namespace wasinn::core {
namespace {

// Nobody chose among the outputs, or this one would have been refused then: to leave it out would be silent.
[[gnu::cold]] Status NotChosen(const wasinn_io& io, const char* backend) {
  const Status why = Unservable("output", io, backend);
  return Status(why.code(), fmt::format("{}: choose the other outputs by their names", why.message()), backend);
}

// Of a backend, beside what the core has to say.
std::string_view WhatWasSaid(const Status& status) { return status.ok() ? "it ended by itself" : status.message(); }

}  // namespace

// Whether a compute or step that ended so has outputs: a model that generates has filled its context with them.
bool Context::LeavesOutputs(const Status& status) {
  return status.ok() || status.code() == WASINN_CONTEXT_FULL || status.code() == WASINN_END_OF_SEQUENCE;
}

Context::Context(std::shared_ptr<const Graph> graph, const Options& options, const Resources& resources)
    : compute_deadline_(options.compute_deadline),
      printer_(options.printer),
      slot_(std::move(graph)),
      state_(slot_),
      inputs_(slot_, state_, resources.memory, resources.in != nullptr ? *resources.in : counts_.in,
              options.inputs_by_reference),
      outputs_(slot_, state_, resources.memory, resources.out != nullptr ? *resources.out : counts_.out),
      meter_(resources.metered, slot_.graph().metrics()),
      scheduler_(resources.scheduler),
      share_(resources.share),
      run_(
          resources.watchdog, options.compute_deadline, [this] { Cancel(); }, options.stop),
      completion_(slot_.graph().backend()) {}

Result<std::unique_ptr<Context>> Context::Create(std::shared_ptr<const Graph> graph, const Options& options,
                                                 const Resources& resources) {
  if (Status status = resources.watchdog.Start(); !status.ok()) return std::unexpected(std::move(status));
  std::unique_ptr<Context> context(new Context(std::move(graph), options, resources));
  if (Status status = context->Open(options, resources); !status.ok()) return std::unexpected(std::move(status));
  return context;
}

Status Context::Open(const Options& options, const Resources& resources) {
  if (Status status = outputs_.Open(); !status.ok()) return status;
  Interruptible opening(resources.watchdog, options.open_deadline, options.stop);
  const Scheduler* const of_model = graph()->scheduler();
  const uint32_t most = of_model == nullptr ? scheduler_.most() : std::min(of_model->most(), scheduler_.most());
  const wasinn_slot_options given{.struct_size = sizeof(wasinn_slot_options),
                                  .max_bytes = options.max_compute_bytes,
                                  .guest_config = options.guest_config.empty() ? "{}" : options.guest_config.c_str(),
                                  .account = &resources.memory.quota,
                                  .token = nullptr,
                                  .on_cancel = nullptr};
  const OnBehalf guest(share_.guest());
  ContextResources of_steps = resources;
  if (of_steps.in == nullptr) of_steps.in = &counts_.in;
  if (of_steps.out == nullptr) of_steps.out = &counts_.out;
  of_steps.outer = &meter_;
  Status status = slot_.Open(given, most, opening, of_steps);
  if (!slot_.is_own()) outputs_.LeaveSlot();
  if (!status.ok() || !opening.overdue()) return status;
  // Few backends can be interrupted here: the guest is told after all.
  return Status(WASINN_TIMEOUT, fmt::format("making a context took more than {} ms", options.open_deadline.count()),
                slot_.table().name);
}

Status Context::SetInputTimed(uint32_t index, const TensorDesc& given, std::span<const uint8_t> bytes,
                              const GuestMemory& memory) {
  const Meter::Timing timing(meter_, Stage::kInput);
  return inputs_.Set(index, given, bytes, memory);
}

Status Context::GetOutputTimed(uint32_t index, std::span<uint8_t> buffer, uint64_t& size) {
  const Meter::Timing timing(meter_, Stage::kOutput);
  return outputs_.Get(index, buffer, size);
}

Status Context::Compute(const GuestMemory* memory) {
  CountOne(counts_.computes);
  if (meter_.times() != nullptr) [[unlikely]]
    return ComputeTimed(memory);
  Status status = ComputeAndWrite(memory);
  meter_.Count(Event::kInference, status.code());
  return status;
}

Status Context::ComputeTimed(const GuestMemory* memory) {
  return meter_.Measure([&] { return ComputeAndWrite(memory); });
}

inline Status Context::ComputeAndWrite(const GuestMemory* memory) { return CountAndWrite(Execute(memory), memory); }

// Outputs that a compute or a step has left.
Status Context::CountOutputs() {
  Status charged = outputs_.Count();
  if (charged.ok()) return charged;
  state_.EndGeneration();
  state_.Clear();
  outputs_.Discard();
  return charged;
}

Status Context::Execute(const GuestMemory* memory) {
  if (Status status = BeginExecuting(memory); !status.ok()) return status;
  Watched::Run run(run_);
  Status status;
  if (!run_.cancelled()) status = ComputeInTurn(memory);
  const bool overdue = run.End();
  return EndExecuting(std::move(status), overdue);
}

// First among those of its model, then among the host's: who waits for its model keeps no place from others. The
// deadline runs from before: who waits for long computes less.
Status Context::ComputeInTurn(const GuestMemory* memory) {
  if (!graph()->counts_among_computes()) return ComputeNow(memory);
  Scheduler* const scheduler_of_model = graph()->scheduler();
  std::optional<Scheduler::Turn> of_model;
  if (scheduler_of_model != nullptr && !of_model.emplace(*scheduler_of_model, share_, waiter_)) {
    meter_.End(Stage::kQueue);
    return StillWaits(*scheduler_of_model);
  }
  const Scheduler::Turn of_host(scheduler_, share_, waiter_, graph()->turns());
  meter_.End(Stage::kQueue);
  return of_host ? ComputeNow(memory) : StillWaits(scheduler_);
}

Status Context::StillWaits(const Scheduler& scheduler) {
  return Error(WASINN_TIMEOUT, "it was still waiting: no more than {} computes run at once ({})", scheduler.most(),
               scheduler.name());
}

Status Context::ComputeNow(const GuestMemory* memory) {
  if (!slot_.is_own()) return ComputeOnLoan(memory);
  if (!inputs_.any_lent() && !inputs_.any_left()) return ComputeOnSlot();
  ContextInputs::Binding binding(inputs_, memory);
  if (Status status = Bind(binding); !status.ok()) return status;
  return ComputeOnSlot();
}

Status Context::Bind(ContextInputs::Binding& binding) {
  const Meter::Timing timing(meter_, Stage::kInput);
  return binding.Begin();
}

Status Context::ComputeOnLoan(const GuestMemory* memory) {
  ContextSlot::Loan loan(slot_);
  if (Status status = loan.Begin(); !status.ok()) return status;
  if (!slot_.is_as_left()) {
    inputs_.ForgetBound();
    outputs_.ForgetBound();
  }
  if (inputs_.grow() || outputs_.grow()) loan.ResetAtEnd();
  ContextInputs::Binding binding(inputs_, memory);
  if (Status status = Bind(binding); !status.ok()) return status;
  Status status = ComputeOnSlot();
  if (LeavesOutputs(status) && !run_.cancelled()) {
    const Meter::Timing timing(meter_, Stage::kOutput);
    if (Status moved = outputs_.Move(); !moved.ok()) status = std::move(moved);
  }
  if (outputs_.grow()) loan.ResetAtEnd();
  return status;
}

Status Context::ComputeOnSlot() {
  if (Status status = outputs_.Bind(); !status.ok()) return status;
  wasinn_compute_options options = ComputeOptions();
  if (CanPrint()) options.flags |= WASINN_MAY_STEP;
  wasinn_compute_result result{.struct_size = sizeof(wasinn_compute_result)};
  if (terms_.at_turn != nullptr) [[unlikely]]
    (*terms_.at_turn)();
  const OnBehalf guest(share_.guest());
  const ContextSlot::Call call(slot_);
  Status status = slot_.StatusOf(slot_.table().compute(slot_.get(), &options, &result));
  if (status.ok() && (result.flags & WASINN_BY_STEPS) != 0 && CanPrint()) status = ComputeBySteps();
  meter_.End(Stage::kCompute);
  outputs_.SetElsewhere((result.flags & WASINN_OUTPUTS_ELSEWHERE) != 0);
  return status;
}

bool Context::CanPrint() const {
  if (printer_.print == nullptr || !slot_.is_own()) return false;
  const wasinn_backend& table = slot_.table();
  return table.step != nullptr && table.piece != nullptr && table.finish != nullptr;
}

Status Context::ComputeBySteps() {
  const wasinn_backend& table = slot_.table();
  Status status;
  while (status.ok() && !run_.cancelled()) {
    status = slot_.StatusOf(table.step(slot_.get()));
    if (status.ok()) status = PrintPiece();
  }
  if (wasinn_error* error = table.finish(slot_.get())) error->release(error);
  return status.code() == WASINN_END_OF_SEQUENCE ? Status() : std::move(status);
}

Status Context::PrintPiece() {
  wasinn_tensor view{.struct_size = sizeof(wasinn_tensor)};
  if (Status status = slot_.StatusOf(slot_.table().piece(slot_.get(), 0, &view)); !status.ok()) return status;
  if (Status status = CheckView(view, slot_.table().name); !status.ok()) return status;
  printer_.print(printer_.user, static_cast<const char*>(view.data), view.bytes);
  return Status();
}

void Context::Cancel() {
  waiter_.Cancel();
  slot_.Cancel();
}

Status Context::Failed(Status status, bool overdue) const {
  if (run_.cancelled()) {
    return Error(WASINN_TIMEOUT, "the compute was cancelled, since its context or guest was closed: {}",
                 WhatWasSaid(status));
  }
  return overdue ? Overdue(WASINN_TIMEOUT, status) : std::move(status);
}

Status Context::Overdue(wasinn_code code, const Status& status) const {
  return Status(code,
                fmt::format("the compute was stopped after {} ms: {} (limits.compute_timeout_ms, --nn-timeout)",
                            compute_deadline_.count(), WhatWasSaid(status)),
                slot_.table().name);
}

// A text that was cut by its deadline is worth more than none.
Status Context::WithOutputs(Status status, bool overdue) const {
  return overdue && status.code() == WASINN_CONTEXT_FULL ? Overdue(WASINN_CONTEXT_FULL, status) : std::move(status);
}

Status Context::CheckGenerates() const {
  const wasinn_backend& table = slot_.table();
  const bool can = table.step != nullptr && table.piece != nullptr && table.finish != nullptr;
  if (can && slot_.get() != nullptr) return Status();
  return Status(WASINN_UNSUPPORTED_OPERATION, "models of this backend do not generate step by step", table.name);
}

Status Context::Step(const GuestMemory* memory) {
  Status status = StepNow(memory);
  meter_.Count(Event::kStep, status.code());
  return status;
}

Status Context::StepNow(const GuestMemory* memory) {
  if (Status status = CheckGenerates(); !status.ok()) return status;
  if (!state_.generates()) {
    if (Status status = inputs_.CheckAllSet(); !status.ok()) return status;
    if (Status status = inputs_.CopyLent(memory); !status.ok()) return status;
    if (inputs_.any_left()) inputs_.UnbindLeft();
  }
  outputs_.Begin();
  // compute_once left the guest's memory of that call bound.
  if (Status status = outputs_.Bind(); !status.ok()) return status;
  state_.BeginStep();
  Watched::Run run(run_);
  Status status;
  if (!run_.cancelled()) {
    const Meter::Timing timing(meter_, Stage::kCompute);
    const OnBehalf guest(share_.guest());
    const ContextSlot::Call call(slot_);
    status = slot_.StatusOf(slot_.table().step(slot_.get()));
  }
  const bool overdue = run.End();
  if (!LeavesOutputs(status) || run_.cancelled()) {
    state_.EndGeneration();
    state_.Clear();
    outputs_.Discard();
    return Failed(std::move(status), overdue);
  }
  state_.SetStepped(status.ok());
  if (Status charged = CountOutputs(); !charged.ok()) return charged;
  return WithOutputs(std::move(status), overdue);
}

Status Context::GetPiece(uint32_t index, std::span<uint8_t> buffer, uint64_t& size) {
  if (Status status = CheckGenerates(); !status.ok()) return status;
  const std::span<const wasinn_io* const> outputs = outputs_.ios();
  if (index >= outputs.size()) return NoSuchIndex("output", index, outputs.size());
  if (!state_.has_piece()) {
    return Error(WASINN_INVALID_ARGUMENT, "there is no piece of an output before a step that made one");
  }
  wasinn_tensor view{.struct_size = sizeof(wasinn_tensor)};
  if (Status status = slot_.StatusOf(slot_.table().piece(slot_.get(), index, &view)); !status.ok()) return status;
  if (Status status = CheckView(view, slot_.table().name); !status.ok()) return status;
  return CopyOut(*outputs[index], view, buffer, size, counts_.out);
}

Status Context::Start(std::span<const Given> inputs) {
  CountOne(counts_.computes);
  return meter_.Measure([&] { return StartNow(inputs); });
}

Status Context::StartNow(std::span<const Given> inputs) {
  if (Status status = CheckGenerates(); !status.ok()) return status;
  state_.EndGeneration();
  inputs_.UnsetAll();
  if (Status status = SetAll(inputs); !status.ok()) return status;
  return inputs_.CheckAllSet();
}

Status Context::SetAll(std::span<const Given> inputs) {
  const Meter::Timing timing(meter_, Stage::kInput);
  for (const Given& given : inputs) {
    if (Status status = inputs_.Set(given.index, given.tensor); !status.ok()) return status;
  }
  return Status();
}

Status Context::Finish() {
  if (Status status = CheckGenerates(); !status.ok()) return status;
  state_.EndGeneration();
  return Status();
}

Result<std::shared_ptr<const void>> Context::Run(std::span<const Given> inputs, std::pmr::vector<Computed>& computed) {
  CountOne(counts_.computes);
  return meter_.Measure([&] { return RunNow(inputs, computed); });
}

Result<std::shared_ptr<const void>> Context::RunNow(std::span<const Given> inputs,
                                                    std::pmr::vector<Computed>& computed) {
  inputs_.UnsetAll();
  state_.Clear();  // whatever becomes of this one: what an earlier one left is discarded in the end
  if (!outputs_.wanted().all()) outputs_.SetOutgrown();
  Status status = SetAll(inputs);
  if (status.ok()) status = Execute(nullptr);
  // Components get outputs or an error, never both: a text that is cut short is worth more.
  if (status.code() == WASINN_CONTEXT_FULL) status = Status();
  if (status.ok()) status = CollectOutputs(computed);
  inputs_.UnsetAll();
  outputs_.Discard();
  if (!status.ok()) return std::unexpected(std::move(status));
  return outputs_.owner();
}

Status Context::CollectOutputs(std::pmr::vector<Computed>& computed) {
  const Meter::Timing timing(meter_, Stage::kOutput);
  const std::span<const wasinn_io* const> outputs = outputs_.ios();
  computed.reserve(outputs.size());
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    computed.push_back({outputs[i]->name, nullptr});
    if (!outputs_.wanted().Has(i)) continue;
    if (IsUnservable(*outputs[i])) return NotChosen(*outputs[i], slot_.table().name);
    Result<TensorPtr> tensor = outputs_.Take(i);
    if (!tensor) return std::move(tensor.error());
    computed.back().tensor = std::move(*tensor);
  }
  return Status();
}

}  // namespace wasinn::core
