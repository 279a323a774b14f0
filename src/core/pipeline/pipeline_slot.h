// One compute of a pipeline: a context of each step, and the tensors between them.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "core/context.h"
#include "core/pipeline/pipeline_graph.h"

namespace wasinn::pipeline {

// One thread at a time, but for Cancel.
class PipelineSlot {
 public:
  static core::Result<std::unique_ptr<PipelineSlot>> Make(const PipelineGraph& graph,
                                                          const wasinn_slot_options& options,
                                                          const core::ContextResources& resources);
  PipelineSlot(const PipelineSlot&) = delete;
  PipelineSlot& operator=(const PipelineSlot&) = delete;
  static PipelineSlot& Of(wasinn_backend_slot* slot) { return *reinterpret_cast<PipelineSlot*>(slot); }

  // As the functions of the table.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index);
  core::Status Compute(const wasinn_compute_options& options);
  core::Status Output(uint32_t index, wasinn_tensor& view) const;
  core::Status Take(uint32_t index, wasinn_tensor& out);
  void Discard();
  void Cancel() { stop_.store(true, std::memory_order_release); }

 private:
  class Making;
  explicit PipelineSlot(const PipelineGraph& graph) : graph_(graph), tensors_(graph.plan().tensors.size()) {}
  core::Status MakeContexts(const wasinn_slot_options& options, const core::ContextResources& resources);
  core::Status RunSteps(const wasinn_compute_options& options);
  core::Status RunStep(size_t index);
  core::Status StoppedAt(size_t index) const;
  bool stopped() const { return stop_.load(std::memory_order_acquire); }
  core::Status Keep(const Plan::Step& step, std::span<const core::Context::Computed> computed);

  const PipelineGraph& graph_;
  std::atomic<bool> stop_{false};  // ends the making of a context and the compute of a step, whichever runs
  std::vector<std::unique_ptr<core::Context>> contexts_;
  std::vector<core::TensorPtr> tensors_;  // those of Plan::tensors that are there
};

}  // namespace wasinn::pipeline
