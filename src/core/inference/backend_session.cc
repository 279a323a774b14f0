#include "core/inference/backend_session.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/scope_exit.h"
#include "core/inference/async_compute.h"
#include "core/inference/ios.h"
#include "core/inference/on_behalf.h"

namespace wasinn::core {
namespace {

// About the memory that a context needs for an input or output besides its bytes, here and in a backend. A usual model
// pays nothing for it, but a guest can make a model with a million inputs, and contexts of it.
constexpr uint64_t kFreeIos = 1024, kBytesOfIo = 256;

uint64_t BytesOfIos(const Graph& graph) {
  const uint64_t count = graph.inputs().size() + graph.outputs().size();
  return count <= kFreeIos ? 0 : (count - kFreeIos) * kBytesOfIo;
}

bool Grows(const wasinn_io* io) { return !IsUnservable(*io) && !IsStatic(*io); }

}  // namespace

// A call that the backend's cancel may interrupt. Its destructor waits for a cancel that is under way.
class BackendSession::Call {
 public:
  explicit Call(BackendSession& session) : guest_(session.resources_.share.guest()), gate_(session.gate_) {
    gate_.Enter();
  }
  ~Call() { gate_.Leave(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  const OnBehalf guest_;
  base::CallGate& gate_;
};

// ---- Slot

BackendSession::BackendSession(std::shared_ptr<const Graph> graph, const Resources& resources)
    : Session(std::move(graph), resources),
      completion_(*graph_->backend()),
      bound_(graph_->inputs().size()),
      static_(resources.memory.quota),
      dynamic_(resources.memory.quota) {
  grows_ = graph_->has_dynamic_outputs() || std::ranges::any_of(graph_->inputs(), Grows) ||
           std::ranges::any_of(graph_->outputs(), Grows);
}

Result<std::unique_ptr<Session>> BackendSession::Make(std::shared_ptr<const Graph> graph, wasinn_slot_options options,
                                                      uint32_t most, const Resources& resources) {
  std::unique_ptr<BackendSession> session(new BackendSession(std::move(graph), resources));
  RETURN_IF_ERROR(session->ChargeSignature());
  options.account = &resources.memory.quota;
  RETURN_IF_ERROR(session->OpenSlot(options, most, resources));
  return session;
}

Status BackendSession::ChargeSignature() {
  uint64_t total = BytesOfIos(*graph_);
  outputs_.reserve(graph_->outputs().size());
  all_bindable_ = !graph_->has_dynamic_outputs();
  for (const wasinn_io* io : graph_->outputs()) {
    Output& output = outputs_.emplace_back();
    output.bindable = (io->flags & WASINN_IO_BINDABLE) != 0;
    all_bindable_ = all_bindable_ && output.bindable;
    if (IsUnservable(*io) || !IsStatic(*io)) continue;
    const std::optional<uint64_t> size = StaticSize(*io);
    if (!size || __builtin_add_overflow(total, *size, &total)) {
      return Error(WASINN_ERROR_TOO_LARGE, "output '{}' {} is too large", io->name, Describe(*io));
    }
    output.fixed_bytes = *size;
  }
  return static_.Resize(total);
}

Status BackendSession::OpenSlot(const wasinn_slot_options& options, uint32_t most, const Resources& resources) {
  // Slots are equal if no guest configures them.
  SlotPool* const shared = std::string_view(options.guest_config) == "{}" ? graph().slots() : nullptr;
  const OnBehalf guest(resources.share.guest());
  has_right_ = shared != nullptr && shared->TakeRight(most);
  owns_slot_ = shared == nullptr || has_right_;
  max_bytes_ = options.max_bytes;
  if (!owns_slot_) {
    Status status = graph().RecordLoss(shared->Prepare(options, most));
    // A session without a slot moves its outputs out of one, and is charged for each as it comes.
    uint64_t total = static_.held();
    for (const Output& output : outputs_) total -= output.bindable ? 0 : output.fixed_bytes;
    (void)static_.Resize(total);
    return status;
  }
  is_pooled_ = has_right_ && shared->serves_guests_to_come();
  if (is_pooled_) {  // perhaps one that another guest's session has left: making a slot takes time
    Result<wasinn_backend_slot*> taken = shared->TakeForGood(options);
    if (!taken) return graph().RecordLoss(std::move(taken.error()));
    slot_ = *taken;
    return Status();
  }
  Status status = StatusOf(table().slot_new(graph().model(), &options, &slot_));
  if (!status.ok() || slot_ != nullptr) return status;
  return Status(WASINN_ERROR_RUNTIME, "the backend made no context", table().name);
}

BackendSession::~BackendSession() {
  SlotPool* const shared = graph().slots();
  if (!owns_slot_) shared->Forget(this);
  if (slot_ != nullptr && is_pooled_) {
    shared->GiveBack(slot_, max_bytes_);
  } else if (slot_ != nullptr) {
    table().slot_free(slot_);
  }
  if (has_right_) shared->GiveRight();
}

Status BackendSession::Lease() {
  auto taken = graph().slots()->Take(this, {.struct_size = sizeof(wasinn_slot_options),
                                            .max_bytes = max_bytes_,
                                            .guest_config = "{}",
                                            .account = nullptr,
                                            .token = &making_,
                                            .on_cancel = &CancelHook::Register});
  if (!taken) return graph().RecordLoss(std::move(taken.error()));
  slot_ = taken->slot;
  if (taken->as_left) return Status();
  std::ranges::fill(bound_, 0);
  for (Output& output : outputs_) output.bound = nullptr;
  return Status();
}

// No call is inside, so no thread cancels: the next cancel on this slot is for another session. If runs leave memory in
// the slot, this session does not get it again.
void BackendSession::EndLease() {
  graph().slots()->Give(std::exchange(slot_, nullptr), grows() ? nullptr : this, max_bytes_);
}

// ---- Inputs

Status BackendSession::Bind(uint32_t index, const Input& input) {
  return slot_ == nullptr || bound_[index] == input.version ? Status() : BindInput(index, input);
}

Status BackendSession::BindInput(uint32_t index, const Input& input) {
  all_bound_ = bound_[index] = 0;
  wasinn_tensor view = ViewOf(input.desc, input.bytes);
  view.memory = input.tensor == nullptr ? nullptr : input.tensor->memory();
  Status status = StatusOf(table().bind_input(slot_, index, &view));
  if (status.ok()) bound_[index] = input.version;
  return status;
}

// If the slot is leased to another session, the next run there binds the input again, or unbinds it.
void BackendSession::Unbind(uint32_t index) {
  all_bound_ = 0;
  if (slot_ != nullptr && std::exchange(bound_[index], 0) != 0) table().unbind_input(slot_, index);
}

Status BackendSession::NewInputMemory(size_t bytes, wasinn_tensor& memory) {
  if (table().input_memory == nullptr) return Status();
  Status status = StatusOf(table().input_memory(graph().model(), bytes, &memory));
  if (!status.ok() || memory.data != nullptr) return status;
  return Status(WASINN_ERROR_RUNTIME, "there is no memory for an input", table().name);
}

Status BackendSession::BindInputs(const InferenceRequest& request) {
  const auto is_as_bound = [&](const Input& input) {
    return bound_[static_cast<size_t>(&input - request.inputs.data())] == (input.set ? input.version : 0);
  };
  if (std::ranges::all_of(request.inputs, is_as_bound)) [[likely]]
    return Status();
  const Meter::Timing timing(*request.meter, Stage::kInput);
  for (uint32_t i = 0; i < request.inputs.size(); ++i) {
    if (!request.inputs[i].set) {
      Unbind(i);
    } else if (Status status = Bind(i, request.inputs[i]); !status.ok()) {
      return status;
    }
  }
  return Status();
}

// ---- Runs

// Most requests only differ from the last one in bytes.
Status BackendSession::BindAll(const InferenceRequest& request) {
  if (all_bound_ != 0 && all_bound_ == request.inputs_version && request.destinations.empty()) [[likely]]
    return Status();
  for (Output& output : outputs_) {
    if (!output.bindable || elsewhere_) output.view.struct_size = 0;
    if (!owns_slot_) output.moved.reset();
  }
  elsewhere_ = false;
  RETURN_IF_ERROR(BindInputs(request));
  RETURN_IF_ERROR(BindOutputs(request));
  if (owns_slot_ && all_bindable_ && request.destinations.empty()) all_bound_ = request.inputs_version;
  return Status();
}

Status BackendSession::Run(const InferenceRequest& request) {
  BeginRun();
  if (!owns_slot_) return RunOnLease(request);
  return EndRun(RunOnSlot(request), request);
}

Status BackendSession::RunOnLease(const InferenceRequest& request) {
  RETURN_IF_ERROR(Lease());
  Status status;
  {
    const base::ScopeExit leased([this] { EndLease(); });
    status = RunOnSlot(request);
    if (LeavesOutputs(status) && !request.cancelled()) {
      const Meter::Timing timing(*request.meter, Stage::kOutput);
      if (Status moved = MoveOutputs(request); !moved.ok()) status = std::move(moved);
    }
  }
  return EndRun(std::move(status), request);
}

wasinn_compute_options BackendSession::OptionsOf(const InferenceRequest& request) const {
  return {.struct_size = sizeof(wasinn_compute_options),
          .n_wanted = static_cast<uint32_t>(request.wanted.size()),
          .wanted = request.wanted.data(),
          .deadline_ms = static_cast<uint64_t>(request.time_left.count()),
          .max_bytes = request.max_bytes,
          .n_kept = static_cast<uint32_t>(kept_.size()),
          .kept = kept_.data(),
          .flags = request.printer != nullptr && owns_slot_ && is_stepped() ? uint32_t{WASINN_MAY_STEP} : 0};
}

Status BackendSession::RunOnSlot(const InferenceRequest& request) {
  // Between two runs no framework looks at an address of the guest's.
  const base::ScopeExit unbind([&] {
    for (uint32_t i = 0; i < request.inputs.size(); ++i) {
      if (request.inputs[i].borrowed) Unbind(i);
    }
  });
  RETURN_IF_ERROR(BindAll(request));
  const wasinn_compute_options options = OptionsOf(request);
  wasinn_compute_result result{.struct_size = sizeof(wasinn_compute_result)};
  if (request.at_turn != nullptr) [[unlikely]]
    (*request.at_turn)();
  const Call call(*this);
  Status status = StatusOf(table().compute(slot_, &options, &result));
  if (status.ok() && (result.flags & WASINN_BY_STEPS) != 0 && (options.flags & WASINN_MAY_STEP) != 0) {
    status = RunBySteps(request);
  }
  request.meter->End(Stage::kCompute);
  if ((result.flags & WASINN_OUTPUTS_ELSEWHERE) != 0) SetElsewhere();
  return status;
}

Status BackendSession::RunBySteps(const InferenceRequest& request) {
  Status status;
  while (status.ok() && !request.cancelled()) {
    status = StatusOf(table().step(slot_));
    if (status.ok()) status = PrintPiece(*request.printer);
  }
  Finish();
  return status.code() == WASINN_ERROR_END_OF_SEQUENCE ? Status() : std::move(status);
}

Status BackendSession::PrintPiece(const Printer& printer) {
  wasinn_tensor view{.struct_size = sizeof(wasinn_tensor)};
  RETURN_IF_ERROR(StatusOf(table().piece(slot_, 0, &view)));
  RETURN_IF_ERROR(CheckView(view, table().name));
  printer.print(printer.user, static_cast<const char*>(view.data), view.bytes);
  return Status();
}

Status BackendSession::EndRun(Status status, const InferenceRequest& request) {
  if (!LeavesOutputs(status) || request.cancelled()) return status;
  Status read = graph_->has_dynamic_outputs() ? ReadDynamic() : Status();
  if (read.ok() && slot_ != nullptr && (!all_bindable_ || elsewhere_)) read = ChargeOutputs();
  if (!read.ok()) return read;
  SetComputed();
  return status;
}

void BackendSession::Cancel() {
  making_.Cancel();
  if (table().cancel != nullptr) gate_.Cancel([this] { table().cancel(slot_); });
}

// ---- Runs without a thread

void Completion::Done(void* end, wasinn_error* error) noexcept {
  auto* self = static_cast<End*>(end);
  if (self->is_expected.exchange(false, std::memory_order_acq_rel)) return self->compute->ReportEnd(error);
  self->backend.LogOwn(WASINN_LOG_ERROR, "the backend reported the end of a compute that was over");
  if (error != nullptr) error->release(error);
}

bool BackendSession::can_run_async() const {
  return table().compute_async != nullptr && owns_slot_ && !graph_->counts_among_computes();
}

Status BackendSession::Begin(const InferenceRequest& request, AsyncCompute& compute, bool& goes_on) {
  BeginRun();
  RETURN_IF_ERROR(BindAll(request));
  async_options_ = OptionsOf(request);
  async_options_.flags = 0;
  async_result_ = {.struct_size = sizeof(wasinn_compute_result)};
  gate_.Enter();
  void* const end = completion_.Expect(compute);
  wasinn_error* const error = table().compute_async(slot_, &async_options_, &async_result_, &Completion::Done, end);
  goes_on = error == nullptr || !completion_.Withdraw();
  if (!goes_on) gate_.Leave();
  return StatusOf(error);
}

Status BackendSession::End(const InferenceRequest& request, wasinn_error* error) {
  gate_.Leave();
  Status status = StatusOf(error);
  request.meter->End(Stage::kCompute);
  if ((async_result_.flags & WASINN_OUTPUTS_ELSEWHERE) != 0) SetElsewhere();
  return EndRun(std::move(status), request);
}

// ---- Steps

bool BackendSession::is_stepped() const {
  return table().step != nullptr && table().piece != nullptr && table().finish != nullptr;
}

Status BackendSession::CheckSteps() const {
  return is_stepped() && slot_ != nullptr ? Status() : Session::CheckSteps();
}

Status BackendSession::Step(const InferenceRequest& request) {
  // compute_once may have left the guest's memory of that call bound for outputs.
  RETURN_IF_ERROR(generates() ? BindOutputs(request) : BindAll(request));
  BeginStep();
  for (Output& output : outputs_) {
    if (!output.bindable) output.view.struct_size = 0;
  }
  if (request.cancelled()) return Status();
  Status status;
  {
    const Meter::Timing timing(*request.meter, Stage::kCompute);
    const Call call(*this);
    status = StatusOf(table().step(slot_));
  }
  if (!LeavesOutputs(status)) {
    if (!generates()) Finish();  // a first step that failed may have begun a generation
    return status;
  }
  SetStepped(status.ok());
  Status charged = ChargeOutputs();
  return charged.ok() ? std::move(status) : std::move(charged);
}

Status BackendSession::Piece(uint32_t index, wasinn_tensor& view) {
  view = {.struct_size = sizeof(wasinn_tensor)};
  RETURN_IF_ERROR(StatusOf(table().piece(slot_, index, &view)));
  return CheckView(view, table().name);
}

void BackendSession::Finish() {
  if (wasinn_error* error = table().finish(slot_)) error->release(error);
}

}  // namespace wasinn::core
