#include "core/context.h"

#include <algorithm>
#include <optional>

#include "core/context_internal.h"
#include "core/interruptible.h"

namespace wasinn::core {
namespace {

// What a context takes for an input or output besides its bytes, here and in a backend: about as much. Of a usual model
// that is nothing, but a guest can make one with a million inputs, and contexts of it.
constexpr uint64_t kFreeIos = 1024, kBytesOfIo = 256;

uint64_t BytesOfIos(const Graph& graph) {
  const uint64_t count = graph.inputs().size() + graph.outputs().size();
  return count <= kFreeIos ? 0 : (count - kFreeIos) * kBytesOfIo;
}

// Of a backend, beside what the core has to say.
std::string_view WhatWasSaid(const Status& status) { return status.ok() ? "it ended by itself" : status.message(); }

// The bytes of an output whose shape the signature fixes.
std::optional<uint64_t> StaticSize(const wasinn_io& io) {
  if (io.rank < 0 || io.dtype == WASINN_DTYPE_UNKNOWN) return std::nullopt;
  return ByteSize(io.dtype, {io.dims, static_cast<size_t>(io.rank)});
}

}  // namespace

Context::Context(std::shared_ptr<const Graph> graph, const Options& options, const Resources& resources)
    : graph_(std::move(graph)),
      compute_deadline_(options.compute_deadline),
      inputs_by_reference_(options.inputs_by_reference),
      tensor_bytes_(resources.tensor_bytes),
      pool_(resources.pool),
      static_outputs_(tensor_bytes_),
      dynamic_outputs_(tensor_bytes_),
      scheduler_(resources.scheduler),
      share_(resources.share),
      run_(resources.watchdog, options.compute_deadline, [this] { Cancel(); }, options.stop) {
  inputs_.resize(graph_->inputs().size());
  for (Input& input : inputs_) input.charge = Charge(tensor_bytes_);
}

Context::~Context() {
  if (context_ != nullptr) table().context_free(context_);
}

Result<std::unique_ptr<Context>> Context::Create(std::shared_ptr<const Graph> graph, const Options& options,
                                                 const Resources& resources) {
  if (Status status = resources.watchdog.Start(); !status.ok()) return std::unexpected(std::move(status));
  std::unique_ptr<Context> context(new Context(std::move(graph), options, resources));
  if (Status status = context->ChargeStaticOutputs(); !status.ok()) return std::unexpected(std::move(status));
  if (Status status = context->Open(options, resources.watchdog); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  return context;
}

Status Context::Open(const Options& options, Watchdog& watchdog) {
  Interruptible opening(watchdog, options.open_deadline, options.stop);
  const wasinn_context_options given{.struct_size = sizeof(wasinn_context_options),
                                     .max_bytes = options.max_compute_bytes,
                                     .guest_config = options.guest_config.empty() ? "{}" : options.guest_config.c_str(),
                                     .account = &tensor_bytes_,
                                     .token = opening.token(),
                                     .on_cancel = opening.on_cancel()};
  Status status = opening.Run("making of a context", table().name, [&] {
    return graph_->backend().Take(table().context_new(graph_->model(), &given, &context_));
  });
  if (!status.ok() || !opening.overdue()) return status;
  // Few backends can be interrupted here: the guest is told after all.
  return Status(WASINN_TIMEOUT, fmt::format("making a context took more than {} ms", options.open_deadline.count()),
                table().name);
}

// Charged before the backend allocates them, so that a signature of 4 GiB costs nothing.
Status Context::ChargeStaticOutputs() {
  uint64_t total = BytesOfIos(*graph_);
  fixed_sizes_.reserve(graph_->outputs().size());
  views_.resize(graph_->outputs().size());
  for (const wasinn_io* io : graph_->outputs()) {
    fixed_sizes_.push_back(0);
    if (IsUnservable(*io)) continue;
    if (!IsStatic(*io)) {
      has_dynamic_outputs_ = true;
      continue;
    }
    const std::optional<uint64_t> size = StaticSize(*io);
    if (!size || __builtin_add_overflow(total, *size, &total)) {
      return Error(WASINN_TOO_LARGE, "output '{}' {} is too large", io->name, Describe(*io));
    }
    fixed_sizes_.back() = *size;
  }
  if (graph_->has_late_outputs()) has_dynamic_outputs_ = true;
  return static_outputs_.Resize(total);
}

Status Context::Compute(const GuestMemory* memory) {
  CountOne(counts_.computes);
  Status status = n_lent_ == 0 ? Execute() : ExecuteOnLoan(memory);
  if (LeavesOutputs(status)) {
    if (Status charged = CountOutputs(); !charged.ok()) return charged;
  }
  if (!status.ok()) return status;
  return memory == nullptr || wanted_.empty() ? Status() : WriteOutputs(*memory);
}

// Outputs that a compute or a step has left.
Status Context::CountOutputs() {
  if (Status charged = ChargeOutputs(); !charged.ok()) {
    EndGeneration();
    computed_ = false;
    DiscardOutputs();
    return charged;
  }
  computed_ = true;
  return Status();
}

Status Context::Execute() {
  if (Status status = CheckInputsSet(); !status.ok()) return status;
  EndGeneration();
  computed_ = generated_ = false;
  taken_.clear();
  own_outputs_.clear();
  late_.reset();
  Watched::Run run(run_);
  Status status;
  if (!run_.cancelled()) status = ComputeInTurn();
  const bool overdue = run.End();
  if (LeavesOutputs(status) && !run_.cancelled()) {
    if (!graph_->has_late_outputs()) return status;
    if (Status read = ReadOutputs(); read.ok()) {
      return status;
    } else {
      status = std::move(read);
    }
  }
  DiscardOutputs();
  return Failed(std::move(status), overdue);
}

// First among those of its model, then among the host's: who waits for its model keeps no place from others. The
// deadline runs from before: who waits for long computes less.
Status Context::ComputeInTurn() {
  if (!graph_->counts_among_computes()) return ComputeNow();
  std::optional<Scheduler::Turn> of_model;
  if (graph_->scheduler() != nullptr && !of_model.emplace(*graph_->scheduler(), share_, waiter_)) {
    return StillWaits(*graph_->scheduler());
  }
  const Scheduler::Turn of_host(scheduler_, share_, waiter_);
  return of_host ? ComputeNow() : StillWaits(scheduler_);
}

Status Context::StillWaits(const Scheduler& scheduler) {
  return Error(WASINN_TIMEOUT, "it was still waiting: no more than {} computes run at once ({})", scheduler.most(),
               scheduler.name());
}

Status Context::ComputeNow() {
  wasinn_compute_result result{.struct_size = sizeof(wasinn_compute_result)};
  const InBackend in_backend(in_backend_);
  Status status = graph_->backend().Take(table().compute(context_, &result));
  if ((result.flags & WASINN_VIEWS_HOLD) == 0) views_known_ = false;
  return status;
}

void Context::Cancel() {
  waiter_.Cancel();
  if (in_backend_.load(std::memory_order_acquire) && table().cancel != nullptr) table().cancel(context_);
}

Status Context::Failed(Status status, bool overdue) const {
  if (run_.cancelled()) {
    return Error(WASINN_TIMEOUT, "the compute was cancelled, since its context or guest was closed: {}",
                 WhatWasSaid(status));
  }
  if (!overdue) return status;
  return Status(WASINN_TIMEOUT,
                fmt::format("the compute was stopped after {} ms: {}", compute_deadline_.count(), WhatWasSaid(status)),
                table().name);
}

// Of outputs of a fixed shape, what they have more than it says: a model may say what is not true.
Status Context::ChargeOutputs() {
  if (views_known_) return Status();
  const std::span<const wasinn_io* const> all = outputs();
  const bool all_are_made = wanted_.empty() || table().want_outputs == nullptr;
  bool all_known = true;
  uint64_t total = 0;
  wasinn_tensor other{};
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (IsUnservable(*all[i]) || !(all_are_made || IsWanted(i))) continue;
    const uint64_t fixed = FixedSize(i);
    all_known = all_known && fixed > 0;
    wasinn_tensor& view = fixed > 0 ? views_[i] : other;
    // One that turns out to be no tensor fails the compute, since what it takes cannot be counted.
    if (Status status = View(i, view); !status.ok()) return status;
    total += view.bytes - std::min<uint64_t>(view.bytes, fixed);
  }
  if (total > 0) outgrown_ = true;
  if (Status status = dynamic_outputs_.Resize(total); !status.ok()) return status;
  views_known_ = all_known;
  return Status();
}

void Context::DiscardOutputs() {
  views_known_ = false;
  own_outputs_.clear();
  if (!has_dynamic_outputs_ && !outgrown_) return;
  // First, so that a backend that must keep some of them (for a state) can charge that in their place.
  (void)dynamic_outputs_.Resize(0);
  if (table().discard_outputs != nullptr) table().discard_outputs(context_);
}

Status Context::View(uint32_t index, wasinn_tensor& view) const {
  view = {.struct_size = sizeof(wasinn_tensor)};
  Status status = graph_->backend().Take(table().output(context_, index, &view));
  if (status.ok() && view.rank > WASINN_MAX_RANK) return TooManyDimensions(view);
  for (const OwnOutput& own : own_outputs_) {
    if (own.index == index) view.data = const_cast<uint8_t*>(own.bytes.data());
  }
  return status;
}

Status Context::GetOutput(uint32_t index, std::span<uint8_t> buffer, uint64_t& size) {
  if (Status status = CheckOutput(index); !status.ok()) return status;
  const wasinn_io& io = *outputs()[index];
  if (const wasinn_tensor* seen = Seen(index)) return CopyOut(io, *seen, buffer, size, counts_.out);
  wasinn_tensor view{};
  if (Status status = View(index, view); !status.ok()) return status;
  return CopyOut(io, view, buffer, size, counts_.out);
}

void Context::CancelForGood() { run_.CancelForGood(); }

}  // namespace wasinn::core
