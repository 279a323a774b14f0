#include "core/inference/context.h"

#include "core/inference/interruptible.h"
#include "core/inference/ios.h"

namespace wasinn::core {
namespace {

// A backend's message, after the core's own.
std::string_view MessageOf(const Status& status) { return status.ok() ? "it ended by itself" : status.message(); }

}  // namespace

Context::Context(std::shared_ptr<const Graph> graph, const Options& options, const Resources& resources)
    : graph_(std::move(graph)),
      compute_deadline_(options.compute_deadline),
      printer_(options.printer),
      count_out_(resources.out != nullptr ? *resources.out : counts_.out),
      meter_(resources.metered, graph_->metrics()),
      scheduler_(resources.scheduler),
      share_(resources.share),
      run_(resources.watchdog, options.compute_deadline, [this] { Cancel(); }, options.stop) {}

Result<std::unique_ptr<Context>> Context::Create(std::shared_ptr<const Graph> graph, const Options& options,
                                                 const Resources& resources) {
  RETURN_IF_ERROR(resources.watchdog.Start());
  std::unique_ptr<Context> context(new Context(std::move(graph), options, resources));
  RETURN_IF_ERROR(context->Open(options, resources));
  return context;
}

Status Context::Open(const Options& options, Resources resources) {
  Interruptible opening(resources.watchdog, options.open_deadline, options.stop);
  if (resources.in == nullptr) resources.in = &counts_.in;
  resources.out = &count_out_;
  resources.outer = &meter_;
  const Scheduler* const of_model = graph_->scheduler();
  const uint32_t most = of_model == nullptr ? scheduler_.most() : std::min(of_model->most(), scheduler_.most());
  const wasinn_slot_options given{.struct_size = sizeof(wasinn_slot_options),
                                  .max_bytes = options.max_compute_bytes,
                                  .guest_config = options.guest_config.empty() ? "{}" : options.guest_config.c_str(),
                                  .account = nullptr,
                                  .token = opening.token(),
                                  .on_cancel = Interruptible::on_cancel()};
  Status status = opening.Run("making of a context", graph_->backend_name(), [&]() -> Status {
    ASSIGN_OR_RETURN(session_, graph_->NewSession(graph_, given, most, resources));
    return Status();
  });
  if (!status.ok()) return status;
  inputs_.emplace(*session_, resources.memory, *resources.in);
  if (!opening.overdue()) return Status();
  // Few backends can be interrupted here, so the guest gets the error afterwards.
  return Status(WASINN_ERROR_TIMEOUT,
                fmt::format("making a context took more than {} ms", options.open_deadline.count()),
                graph_->backend_name());
}

// ---- A run

InferenceRequest Context::Request() const {
  return {.inputs = staged().all(),
          .inputs_version = staged().version(),
          .wanted = wanted_.indices(),
          .time_left = terms_.time_left,
          .max_bytes = terms_.max_bytes,
          .printer = printer_.print == nullptr ? nullptr : &printer_,
          .at_turn = terms_.at_turn,
          .run = &run_,
          .meter = const_cast<Meter*>(&meter_)};
}

Status Context::Execute(const InferenceRequest& request) {
  RETURN_IF_ERROR(Prepare());
  Watched::Run run(run_);
  Status status;
  if (!run_.cancelled()) status = RunInTurn(request);
  const bool overdue = run.End();
  return EndRun(std::move(status), overdue);
}

Status Context::Prepare() {
  RETURN_IF_ERROR(staged().CheckAllSet());
  if (session_->generates()) session_->EndGeneration();
  taken_.clear();
  return Status();
}

// It waits first among runs of its model, then among the host's, so that a run that waits for its model keeps no place
// from others. The deadline runs from before the wait: a run that waits long may compute less.
Status Context::RunInTurn(const InferenceRequest& request) {
  if (!graph_->counts_among_computes()) return session_->Run(request);
  Scheduler* const scheduler_of_model = graph_->scheduler();
  std::optional<Scheduler::Turn> of_model;
  if (scheduler_of_model != nullptr && !of_model.emplace(*scheduler_of_model, share_, waiter_)) {
    meter_.End(Stage::kQueue);
    return StillWaits(*scheduler_of_model);
  }
  const Scheduler::Turn of_host(scheduler_, share_, waiter_, graph_->turns());
  meter_.End(Stage::kQueue);
  return of_host ? session_->Run(request) : StillWaits(scheduler_);
}

Status Context::StillWaits(const Scheduler& scheduler) {
  return Error(WASINN_ERROR_TIMEOUT, "it was still waiting: no more than {} computes run at once ({})",
               scheduler.most(), scheduler.name());
}

void Context::Cancel() {
  waiter_.Cancel();
  session_->Cancel();
}

// A text that was cut by its deadline is better than none.
Status Context::EndRun(Status status, bool overdue) {
  if (LeavesOutputs(status) && !run_.cancelled()) [[likely]] {
    return overdue && status.code() == WASINN_ERROR_CONTEXT_FULL ? Overdue(WASINN_ERROR_CONTEXT_FULL, status)
                                                                 : std::move(status);
  }
  session_->EndGeneration();
  session_->Discard();
  return Failed(std::move(status), overdue);
}

Status Context::Failed(Status status, bool overdue) const {
  if (run_.cancelled()) {
    return Error(WASINN_ERROR_TIMEOUT, "the compute was cancelled{}: {}",
                 run_.cancelled_until_renewed() ? "" : ", since its context or guest was closed", MessageOf(status));
  }
  return overdue ? Overdue(WASINN_ERROR_TIMEOUT, status) : std::move(status);
}

Status Context::Overdue(wasinn_code code, const Status& status) const {
  return Status(code,
                fmt::format("the compute was stopped after {} ms: {} (limits.compute_timeout_ms, --nn-timeout)",
                            compute_deadline_.count(), MessageOf(status)),
                graph_->backend_name());
}

Status Context::Compute(const GuestMemory* memory) {
  CountOne(counts_.computes);
  return meter_.Measure([&] {
    Status status = Execute(Request());
    return wanted_.all() || memory == nullptr || !status.ok() ? std::move(status) : WriteOutputs(*memory);
  });
}

// ---- Runs that bring all inputs as tensors

Status Context::SetAll(std::span<const TensorInput> inputs) {
  const Meter::Timing timing(meter_, Stage::kInput);
  staged().UnsetAll();
  for (const TensorInput& given : inputs) {
    RETURN_IF_ERROR(staged().Set(given.index, given.tensor));
  }
  return Status();
}

Result<std::shared_ptr<const void>> Context::Run(std::span<const TensorInput> inputs,
                                                 std::pmr::vector<TensorOutput>& computed) {
  CountOne(counts_.computes);
  return meter_.Measure([&] {
    Status status = Bring(inputs);
    if (status.ok()) status = Execute(Request());
    return TakeAll(std::move(status), computed);
  });
}

Status Context::Bring(std::span<const TensorInput> inputs) {
  session_->EndGeneration();
  session_->HideOutputs();  // in any case; outputs of an earlier run are discarded in the end
  return SetAll(inputs);
}

Result<std::shared_ptr<const void>> Context::TakeAll(Status status, std::pmr::vector<TensorOutput>& computed) {
  // Components get either outputs or an error, and a text that is cut short is better than an error.
  if (status.code() == WASINN_ERROR_CONTEXT_FULL) status = Status();
  if (status.ok()) status = CollectOutputs(computed);
  std::shared_ptr<const void> names = session_->names_owner();
  staged().UnsetAll();
  session_->Discard();
  if (!status.ok()) return std::unexpected(std::move(status));
  return names;
}

// ---- Generative models

Status Context::Start(std::span<const TensorInput> inputs) {
  CountOne(counts_.computes);
  return meter_.Measure([&]() -> Status {
    RETURN_IF_ERROR(session_->CheckSteps());
    session_->EndGeneration();
    RETURN_IF_ERROR(SetAll(inputs));
    return staged().CheckAllSet();
  });
}

Status Context::Step() {
  Status status = StepNow();
  meter_.Count(Event::kStep, status.code());
  return status;
}

Status Context::PrepareStep() {
  RETURN_IF_ERROR(session_->CheckSteps());
  if (!session_->generates()) {
    RETURN_IF_ERROR(staged().CheckAllSet());
  }
  taken_.clear();
  return Status();
}

Status Context::StepNow() {
  RETURN_IF_ERROR(PrepareStep());
  Watched::Run run(run_);
  Status status = session_->Step(Request());
  const bool overdue = run.End();
  return EndRun(std::move(status), overdue);
}

Status Context::GetPiece(uint32_t index, std::span<uint8_t> buffer, uint64_t& size) {
  RETURN_IF_ERROR(session_->CheckSteps());
  const std::span<const wasinn_io* const> outputs = session_->outputs();
  if (index >= outputs.size()) return NoSuchIndex("output", index, outputs.size());
  if (!session_->has_piece()) {
    return Error(WASINN_ERROR_INVALID_ARGUMENT, "there is no piece of an output before a step that made one");
  }
  wasinn_tensor view{};
  RETURN_IF_ERROR(session_->Piece(index, view));
  return CopyOut(*outputs[index], view, buffer, size, count_out_);
}

Status Context::Finish() {
  RETURN_IF_ERROR(session_->CheckSteps());
  session_->EndGeneration();
  return Status();
}

void Context::Clear() {
  session_->EndGeneration();
  staged().UnsetAll();
  session_->Discard();
}

}  // namespace wasinn::core
