// A session of a model that batches: a run waits for others, or computes by itself on a context of the inner model.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/batching/batched_graph.h"
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

}  // namespace wasinn::core
