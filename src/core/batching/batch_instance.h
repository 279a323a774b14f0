// Computes batches of a model, one at a time, on a thread of its own.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/batching/batched_graph.h"

namespace wasinn::core {

class BatchInstance {
 public:
  explicit BatchInstance(BatchedGraph& model) : model_(model) {}
  BatchInstance(const BatchInstance&) = delete;
  BatchInstance& operator=(const BatchInstance&) = delete;
  // Returns when the queue stops.
  void Run() noexcept;

 private:
  bool Compute(Batch& batch);
  void Open() noexcept;
  static uint64_t MaxBytes(const Batch& batch);
  std::vector<Context::TensorInput> Gather(const Batch& batch) const;
  TensorPtr GatherOne(const Batch& batch, uint32_t index) const;
  void Scatter(Batch& batch, std::span<const Context::TensorOutput> computed) const;
  TensorPtr RowsOf(const SharedTensor& tensor, const BatchItem& item, uint32_t first_row) const;

  BatchedGraph& model_;
  std::unique_ptr<Context> context_;
  bool spent_ = false;  // it was cancelled for good
};

}  // namespace wasinn::core
