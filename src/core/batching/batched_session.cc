// A session of a model that batches: a run waits for others, or computes by itself on a context of the inner model.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/batching/batched_graph.h"
#include "core/inference/ios.h"
#include "core/inference/session.h"

namespace wasinn::core {

class BatchedSession final : public ComposedSession {
 public:
  BatchedSession(std::shared_ptr<const Graph> self, const BatchedGraph& graph, uint64_t max_bytes,
                 const Resources& resources)
      : ComposedSession(std::move(self), resources),
        batched_(const_cast<BatchedGraph&>(graph)),
        max_bytes_(max_bytes) {}

  void Cancel() override;

 private:
  class Cancellable;
  Status RunNow(const InferenceRequest& request) override;
  bool SetRows(std::span<const Input> inputs);
  void SetShape(std::span<const Input> inputs);
  void FillItem(const InferenceRequest& request);
  Status RunTogether(const InferenceRequest& request);
  Status RunAlone(const InferenceRequest& request);
  Status RunUnderSuspicion(const InferenceRequest& request);
  Status RunOnContext(const InferenceRequest& request);
  Status MakeContext();
  uint64_t MaxBytes(const InferenceRequest& request) const {
    return request.max_bytes != 0 ? request.max_bytes : max_bytes_;
  }
  void SetTurn() {
    turn_ = batched_.queue().clock().now();
    if (resources_.outer != nullptr) resources_.outer->EndAt(Stage::kQueue, turn_);
  }
  Status KeepOutputs(std::span<const BatchOutput> outputs);

  BatchedGraph& batched_;
  const uint64_t max_bytes_;
  uint32_t rows_ = 0;
  std::string shape_;  // the inputs' shapes without rows; equal within a batch
  BatchItemPtr item_;

  std::mutex mutex_;                    // guards the members below
  std::atomic<bool> cancelled_{false};  // the current run, and the making of a context for it
  enum class Phase : uint8_t { kNone, kWaits, kAlone } phase_ = Phase::kNone;
  std::unique_ptr<Context> context_;  // for computes outside of batches

  // For a run outside of batches.
  Clock::time_point turn_;
  const std::function<void()> at_turn_ = [this] { SetTurn(); };

  std::vector<uint32_t> selected_;  // the outputs that the context computes; none: all
};

// Whether the inputs have rows, and few enough for a batch with others.
bool BatchedSession::SetRows(std::span<const Input> inputs) {
  rows_ = 0;
  for (const Input& input : inputs) {
    if (!input.set) continue;
    const int64_t rows = input.desc.rank == 0 ? 0 : input.desc.dims[0];
    if (rows == 0 || rows >= batched_.batching().max_batch_size || (rows_ > 0 && rows != rows_)) {
      rows_ = 0;
      return false;
    }
    rows_ = static_cast<uint32_t>(rows);
  }
  SetShape(inputs);
  return rows_ > 0;
}

void BatchedSession::SetShape(std::span<const Input> inputs) {
  shape_.clear();
  const auto add = [this](const auto& value) { shape_.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  for (const Input& input : inputs) {
    add(input.set);
    if (!input.set) continue;
    add(input.desc.dtype);
    add(input.desc.rank);
    for (const int64_t dim : input.desc.shape().subspan(1)) add(dim);
  }
}

void BatchedSession::FillItem(const InferenceRequest& request) {
  if (item_ == nullptr || item_.use_count() > 1) item_ = std::make_shared<BatchItem>();
  item_->inputs = request.inputs;
  item_->wanted.assign(request.wanted.begin(), request.wanted.end());
  item_->shape = shape_;
  item_->rows = rows_;
  item_->share = &resources_.share;
  item_->pool_user = resources_.memory.pool_user;
  item_->max_bytes = MaxBytes(request);
  item_->late = request.time_left.count() == 0 ? Clock::time_point::max()
                                               : batched_.queue().clock().now() + request.time_left / 2;
  item_->Begin();
}

Status BatchedSession::RunNow(const InferenceRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = false;
  }
  if (request.at_turn != nullptr) (*request.at_turn)();  // the queue is part of the outer compute
  BatchQueue& queue = batched_.queue();
  if (!batched_.batches() || !SetRows(request.inputs)) return RunAlone(request);
  if (queue.IsSuspect(resources_.share)) return RunUnderSuspicion(request);
  if (const BatchQueue::Alone alone(queue); alone) return RunAlone(request);
  return RunTogether(request);
}

// A part of a run that Cancel can end. If the session was cancelled before, the part does not begin.
class BatchedSession::Cancellable {
 public:
  Cancellable(BatchedSession& session, Phase phase) : session_(session) {
    const std::lock_guard lock(session.mutex_);
    begun_ = !session.cancelled_;
    if (begun_) session.phase_ = phase;
  }
  ~Cancellable() {
    std::unique_ptr<Context> gone;  // freed after the lock, which the watchdog takes, too: freeing a slot may take long
    const std::lock_guard lock(session_.mutex_);
    session_.phase_ = Phase::kNone;
    if (session_.cancelled_) gone = std::move(session_.context_);  // it may have been cancelled for good
  }
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;
  explicit operator bool() const { return begun_; }

 private:
  BatchedSession& session_;
  bool begun_;
};

Status BatchedSession::RunTogether(const InferenceRequest& request) {
  FillItem(request);
  auto outcome = BatchQueue::Outcome::kCancelled;
  if (const Cancellable wait(*this, Phase::kWaits); wait) outcome = batched_.queue().Wait(item_);
  if (outcome != BatchQueue::Outcome::kDone) item_.reset();  // its batch may go on, and write outputs into it
  if (outcome == BatchQueue::Outcome::kCancelled)
    return Error(WASINN_ERROR_TIMEOUT, "it was in a batch, or waited for one");
  if (outcome == BatchQueue::Outcome::kAlone) return RunUnderSuspicion(request);
  if (Meter* const outer = resources_.outer) {
    outer->EndAt(Stage::kQueue, item_->begun);
    if (item_->batch_rows > 0) outer->CountBatch(item_->batch_rows);
  }
  std::vector<BatchOutput> outputs = std::exchange(item_->outputs, {});
  for (const BatchOutput& output : outputs) {
    if (output.tensor == nullptr) continue;
    Reservation charge(resources_.memory.quota);
    RETURN_IF_ERROR(charge.Resize(output.tensor->bytes().size()));
    output.tensor->SetCharge(std::move(charge));
  }
  return KeepOutputs(outputs);
}

// An inference that fails by itself, too, or takes longer than a batch may, joins no batch the next time.
Status BatchedSession::RunUnderSuspicion(const InferenceRequest& request) {
  RETURN_IF_ERROR(MakeContext());
  turn_ = Clock::time_point::max();
  Status status = RunAlone(request);
  const auto took = std::max(batched_.queue().clock().now() - turn_, Clock::duration(0));
  batched_.queue().NoteAlone(resources_.share, shape_, rows_, status.ok(), took);
  return status;
}

// Done once. It has no deadline of its own: the run that needs the context cancels it.
Status BatchedSession::MakeContext() {
  if (context_ != nullptr) return Status();
  ASSIGN_OR_RETURN(
      std::unique_ptr<Context> made,
      Context::Create(batched_.inner(), {.max_compute_bytes = max_bytes_, .stop = &cancelled_}, resources_));
  selected_.clear();
  const std::lock_guard lock(mutex_);
  context_ = std::move(made);
  return Status();
}

Status BatchedSession::RunAlone(const InferenceRequest& request) {
  RETURN_IF_ERROR(MakeContext());
  context_->SetTerms({.time_left = request.time_left, .max_bytes = MaxBytes(request), .at_turn = &at_turn_});
  const Cancellable run(*this, Phase::kAlone);
  return run ? RunOnContext(request) : Error(WASINN_ERROR_TIMEOUT, "it had not begun");
}

Status BatchedSession::RunOnContext(const InferenceRequest& request) {
  const std::span<const uint32_t> wanted = request.wanted;
  if (!graph_->has_dynamic_outputs() && !std::ranges::equal(selected_, wanted)) {
    RETURN_IF_ERROR(context_->SelectOutputs(wanted));
    selected_.assign(wanted.begin(), wanted.end());
  }
  std::vector<Context::TensorInput> given;
  for (uint32_t i = 0; i < request.inputs.size(); ++i) {
    if (request.inputs[i].set) given.push_back({i, Borrowed(request.inputs[i])});
  }
  std::pmr::vector<Context::TensorOutput> computed;
  const auto names = context_->Run(given, computed);
  // The thread that cancelled it reports why.
  if (!names && cancelled_) return Error(WASINN_ERROR_TIMEOUT, "it was computed by itself");
  if (!names) return Copy(names.error());
  std::vector<BatchOutput> outputs;
  for (uint32_t i = 0; i < computed.size(); ++i) {
    const bool is_wanted = wanted.empty() || std::ranges::binary_search(wanted, i);
    outputs.push_back({std::string(computed[i].name), is_wanted ? computed[i].tensor : nullptr});
  }
  return KeepOutputs(outputs);
}

Status BatchedSession::KeepOutputs(std::span<const BatchOutput> outputs) {
  for (const BatchOutput& output : outputs) results_.push_back(output.tensor);
  if (!graph_->has_dynamic_outputs()) return Status();
  std::vector<wasinn_io> ios;
  std::vector<const wasinn_io*> pointers;
  ios.reserve(outputs.size());
  for (const BatchOutput& output : outputs) {
    // Nothing is known about an output that was not wanted.
    static const TensorDesc kNone;
    const TensorDesc& desc = output.tensor == nullptr ? kNone : output.tensor->desc();
    ios.push_back({.struct_size = sizeof(wasinn_io),
                   .dtype = desc.dtype,
                   .flags = 0,
                   .rank = output.tensor == nullptr ? -1 : static_cast<int32_t>(desc.rank),
                   .dims = desc.dims,
                   .name = output.name.c_str(),
                   .type_name = nullptr});
    pointers.push_back(&ios.back());
  }
  return SetDynamic(pointers);
}

void BatchedSession::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_.store(true, std::memory_order_release);
  if (phase_ == Phase::kWaits) batched_.queue().Cancel(*item_);
  if (phase_ == Phase::kAlone) context_->CancelForGood();
}

Result<std::unique_ptr<Session>> BatchedGraph::NewSession(std::shared_ptr<const Graph> self,
                                                          const wasinn_slot_options& options, uint32_t /*most*/,
                                                          const Resources& resources) const {
  return std::make_unique<BatchedSession>(std::move(self), *this, options.max_bytes, resources);
}

}  // namespace wasinn::core
