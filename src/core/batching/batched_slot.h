// A slot of a model that batches: who computes on it waits for others, or computes by itself.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/batching/batched_model.h"
#include "core/late_outputs.h"

namespace wasinn::core {

// One thread at a time, but for Cancel.
class BatchedSlot {
 public:
  BatchedSlot(BatchedModel& model, const wasinn_slot_options& options, const ContextResources& resources);
  BatchedSlot(const BatchedSlot&) = delete;
  BatchedSlot& operator=(const BatchedSlot&) = delete;
  static BatchedSlot& Of(wasinn_backend_slot* slot) { return *reinterpret_cast<BatchedSlot*>(slot); }

  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) {
    inputs_[index].set = false;
    rows_ = 0;
  }
  Status Compute(const wasinn_compute_options& options);
  Status Output(uint32_t index, wasinn_tensor& view) const;
  Status LateOutputsOf(const wasinn_io* const*& out, uint32_t& n) const;
  Status Take(uint32_t index, wasinn_tensor& out);
  void Discard() {
    late_.reset();  // its names are those of outputs
    outputs_.clear();
  }
  void Cancel();

 private:
  class Cancellable;
  bool SetRows();
  void SetShape();
  void FillItem(const wasinn_compute_options& options);
  Status ComputeTogether(const wasinn_compute_options& options);
  Status ComputeAlone(const wasinn_compute_options& options);
  void SetTurn() {
    turn_ = model_.queue().clock().now();
    if (resources_.outer != nullptr) resources_.outer->EndAt(core::Stage::kQueue, turn_);
  }
  uint64_t MaxBytes(const wasinn_compute_options& options) const;
  Status ComputeUnderSuspicion(const wasinn_compute_options& options);
  Status MakeContext(const wasinn_compute_options& options);
  Status RunAlone(const wasinn_compute_options& options);
  Status SetLate(std::span<const uint32_t> wanted);

  BatchedModel& model_;
  const ContextResources resources_;
  const uint64_t max_bytes_;
  std::vector<BatchInput> inputs_;
  uint32_t rows_ = 0;
  std::string shape_;
  std::vector<BatchOutput> outputs_;
  std::unique_ptr<LateOutputs> late_;
  BatchItemPtr item_;

  std::mutex mutex_;                    // of what follows
  std::atomic<bool> cancelled_{false};  // the compute that is under way, and the making of a context for it
  enum class Stage : uint8_t { kNone, kWaits, kAlone } stage_ = Stage::kNone;
  std::unique_ptr<Context> context_;  // for what is computed by itself

  // Of a compute by itself.
  Clock::time_point turn_;
  const std::function<void()> at_turn_ = [this] { SetTurn(); };

  std::vector<uint32_t> selected_;  // which of its outputs that context computes; none: all
};

}  // namespace wasinn::core
