#include "core/batching/batched_slot.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/ios.h"

namespace wasinn::core {

BatchedSlot::BatchedSlot(BatchedModel& model, const wasinn_slot_options& options, const ContextResources& resources)
    : model_(model), resources_(resources), max_bytes_(options.max_bytes), inputs_(model.info().n_inputs) {}

void BatchedSlot::Bind(uint32_t index, const wasinn_tensor& tensor) {
  BatchInput& input = inputs_[index];
  const bool same = input.set && input.desc.dtype == tensor.dtype &&
                    std::ranges::equal(input.desc.shape(), std::span(tensor.dims, tensor.rank));
  input.data = static_cast<const uint8_t*>(tensor.data);
  if (same) return;
  input.desc = DescOf(tensor);
  input.bytes = tensor.bytes;
  input.set = true;
  rows_ = 0;
}

// Whether its inputs have rows, and as many as a batch may have beside others'.
bool BatchedSlot::SetRows() {
  if (rows_ > 0) return true;
  for (const BatchInput& input : inputs_) {
    if (!input.set) continue;
    const int64_t rows = input.desc.rank == 0 ? 0 : input.desc.dims[0];
    if (rows == 0 || rows >= model_.batching().max_batch_size || (rows_ > 0 && rows != rows_)) {
      rows_ = 0;
      return false;
    }
    rows_ = static_cast<uint32_t>(rows);
  }
  SetShape();
  return rows_ > 0;
}

void BatchedSlot::SetShape() {
  shape_.clear();
  const auto add = [this](const auto& value) { shape_.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  for (const BatchInput& input : inputs_) {
    add(input.set);
    if (!input.set) continue;
    add(input.desc.dtype);
    add(input.desc.rank);
    for (const int64_t dim : input.desc.shape().subspan(1)) add(dim);
  }
}

uint64_t BatchedSlot::MaxBytes(const wasinn_compute_options& options) const {
  return options.max_bytes != 0 ? options.max_bytes : max_bytes_;
}

void BatchedSlot::FillItem(const wasinn_compute_options& options) {
  if (item_ == nullptr || item_.use_count() > 1) item_ = std::make_shared<BatchItem>();
  item_->inputs = inputs_;
  item_->wanted.assign(options.wanted, options.wanted + options.n_wanted);
  item_->shape = shape_;
  item_->rows = rows_;
  item_->share = &resources_.share;
  item_->pool_user = resources_.memory.pool_user;
  item_->max_bytes = MaxBytes(options);
  item_->late = options.deadline_ms == 0
                    ? Clock::time_point::max()
                    : model_.queue().clock().now() + std::chrono::milliseconds(options.deadline_ms) / 2;
  item_->Begin();
}

Status BatchedSlot::Compute(const wasinn_compute_options& options) {
  Discard();
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = false;
  }
  BatchQueue& queue = model_.queue();
  if (!model_.batches() || !SetRows()) return ComputeAlone(options);
  if (queue.IsSuspect(resources_.share)) return ComputeUnderSuspicion(options);
  if (const BatchQueue::Alone alone(queue); alone) return ComputeAlone(options);
  return ComputeTogether(options);
}

// A part of a compute that Cancel ends, however it ends. One that was cancelled before does not begin.
class BatchedSlot::Cancellable {
 public:
  Cancellable(BatchedSlot& slot, Stage stage) : slot_(slot) {
    const std::lock_guard lock(slot.mutex_);
    begun_ = !slot.cancelled_;
    if (begun_) slot.stage_ = stage;
  }
  ~Cancellable() {
    std::unique_ptr<Context> gone;  // after the lock, which the watchdog takes, too: freeing a slot may take long
    const std::lock_guard lock(slot_.mutex_);
    slot_.stage_ = Stage::kNone;
    if (slot_.cancelled_) gone = std::move(slot_.context_);  // it may have been cancelled for good
  }
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;
  explicit operator bool() const { return begun_; }

 private:
  BatchedSlot& slot_;
  bool begun_;
};

Status BatchedSlot::ComputeTogether(const wasinn_compute_options& options) {
  FillItem(options);
  auto outcome = BatchQueue::Outcome::kCancelled;
  if (const Cancellable wait(*this, Stage::kWaits); wait) outcome = model_.queue().Wait(item_);
  if (outcome != BatchQueue::Outcome::kDone)
    item_.reset();  // its batch may go on, and give it outputs that nobody is charged for
  if (outcome == BatchQueue::Outcome::kCancelled) return Error(WASINN_TIMEOUT, "it was in a batch, or waited for one");
  if (outcome == BatchQueue::Outcome::kAlone) return ComputeUnderSuspicion(options);
  if (Meter* const outer = resources_.outer) {
    outer->EndAt(core::Stage::kQueue, item_->begun);
    if (item_->batch_rows > 0) outer->CountBatch(item_->batch_rows);
  }
  outputs_ = std::move(item_->outputs);
  item_->outputs.clear();
  return SetLate({options.wanted, options.n_wanted});
}

// Whoever fails by itself too, or takes longer than a batch may, comes into no batch the next time.
Status BatchedSlot::ComputeUnderSuspicion(const wasinn_compute_options& options) {
  if (Status status = MakeContext(options); !status.ok()) return status;
  turn_ = Clock::time_point::max();
  Status status = ComputeAlone(options);
  const auto took = std::max(model_.queue().clock().now() - turn_, Clock::duration(0));
  model_.queue().NoteAlone(resources_.share, shape_, rows_, status.ok(), took);
  return status;
}

// Once.
Status BatchedSlot::MakeContext(const wasinn_compute_options& options) {
  if (context_ != nullptr) return Status();
  const std::chrono::milliseconds deadline(options.deadline_ms);
  Result<std::unique_ptr<Context>> made = Context::Create(
      model_.inner(), {.compute_deadline = deadline, .max_compute_bytes = max_bytes_, .stop = &cancelled_}, resources_);
  if (!made) return std::move(made.error());
  selected_.clear();
  const std::lock_guard lock(mutex_);
  context_ = std::move(*made);
  return Status();
}

Status BatchedSlot::ComputeAlone(const wasinn_compute_options& options) {
  if (Status status = MakeContext(options); !status.ok()) return status;
  context_->SetTerms({.max_bytes = MaxBytes(options), .at_turn = &at_turn_});
  const Cancellable compute(*this, Stage::kAlone);
  return compute ? RunAlone(options) : Error(WASINN_TIMEOUT, "it had not begun");
}

// The slot's inputs are lent to a context of the inner model.
Status BatchedSlot::RunAlone(const wasinn_compute_options& options) {
  const std::span<const uint32_t> wanted(options.wanted, options.n_wanted);
  if (!model_.inner()->has_late_outputs() && !std::ranges::equal(selected_, wanted)) {
    if (Status status = context_->SelectOutputs(wanted); !status.ok()) return status;
    selected_.assign(wanted.begin(), wanted.end());
  }
  std::vector<Context::Given> given;
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    const BatchInput& input = inputs_[i];
    if (!input.set) continue;
    const auto lent = SharedTensor::New();
    lent->Adopt(nullptr, input.desc, ViewOf(input.desc, {input.data, input.bytes}), Charge());
    given.push_back({i, lent});
  }
  std::pmr::vector<Context::Computed> computed;
  auto names = context_->Run(given, computed);
  // Whoever cancelled it says why.
  if (!names && cancelled_) return Error(WASINN_TIMEOUT, "it was computed by itself");
  if (!names) return std::move(names.error());
  for (uint32_t i = 0; i < computed.size(); ++i) {
    const bool is_wanted = wanted.empty() || std::ranges::binary_search(wanted, i);
    const TensorPtr tensor = is_wanted ? computed[i].tensor : nullptr;
    if (tensor != nullptr) tensor->GiveChargeBack();  // who sees it is charged for it
    outputs_.push_back({std::string(computed[i].name), tensor});
  }
  return SetLate(wanted);
}

void BatchedSlot::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_.store(true, std::memory_order_release);
  if (stage_ == Stage::kWaits) model_.queue().Cancel(*item_);
  if (stage_ == Stage::kAlone) context_->CancelForGood();
}

// ---- Outputs

Status BatchedSlot::SetLate(std::span<const uint32_t> wanted) {
  if (!model_.inner()->has_late_outputs()) return Status();
  std::vector<wasinn_io> ios;
  std::vector<const wasinn_io*> pointers;
  ios.reserve(outputs_.size());
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    const BatchOutput& output = outputs_[i];
    const bool is_wanted = wanted.empty() || std::ranges::binary_search(wanted, i);
    // Of one that nobody wanted nothing is known here.
    static const TensorDesc kNone;
    const TensorDesc& desc = is_wanted ? output.tensor->desc() : kNone;
    ios.push_back({.struct_size = sizeof(wasinn_io),
                   .dtype = is_wanted ? desc.dtype : uint32_t{WASINN_DTYPE_UNKNOWN},
                   .flags = 0,
                   .rank = is_wanted ? static_cast<int32_t>(desc.rank) : -1,
                   .dims = desc.dims,
                   .name = output.name.c_str(),
                   .type_name = nullptr});
    pointers.push_back(&ios.back());
  }
  late_ = std::make_unique<LateOutputs>(pointers);
  return Status();
}

Status BatchedSlot::LateOutputsOf(const wasinn_io* const*& out, uint32_t& n) const {
  if (late_ == nullptr) return Error(WASINN_RUNTIME_ERROR, "there was no compute");
  out = late_->ios().data();
  n = static_cast<uint32_t>(late_->ios().size());
  return Status();
}

Status BatchedSlot::Output(uint32_t index, wasinn_tensor& view) const {
  if (index >= outputs_.size()) return Error(WASINN_INVALID_ARGUMENT, "there is no output {}", index);
  const TensorPtr& tensor = outputs_[index].tensor;
  // One that nobody wanted holds nothing.
  view = tensor == nullptr ? wasinn_tensor{.struct_size = sizeof(wasinn_tensor), .dtype = WASINN_F32}
                           : ViewOf(tensor->desc(), tensor->bytes());
  return Status();
}

Status BatchedSlot::Take(uint32_t index, wasinn_tensor& out) {
  if (Status status = Output(index, out); !status.ok()) return status;
  auto holder = std::make_unique<TensorPtr>(std::move(outputs_[index].tensor));
  out.owner = holder.release();
  out.release = [](void* owner) { delete static_cast<TensorPtr*>(owner); };
  return Status();
}

}  // namespace wasinn::core
