// A session of a pipeline: a context for each step, and the tensors between them.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "core/inference/context.h"
#include "core/inference/session.h"
#include "core/pipeline/pipeline_graph.h"

namespace wasinn::pipeline {

class PipelineSession final : public core::ComposedSession {
 public:
  static core::Result<std::unique_ptr<core::Session>> Make(std::shared_ptr<const core::Graph> self,
                                                           const PipelineGraph& graph,
                                                           const wasinn_slot_options& options,
                                                           const core::Resources& resources);

  void Cancel() override { stop_.store(true, std::memory_order_release); }

 private:
  PipelineSession(std::shared_ptr<const core::Graph> self, const PipelineGraph& graph, const core::Resources& resources)
      : ComposedSession(std::move(self), resources), plan_(graph.plan()), tensors_(plan_.tensors.size()) {}
  core::Status RunNow(const core::InferenceRequest& request) override;
  core::Status MakeContexts(const wasinn_slot_options& options);
  core::Status RunSteps(const core::InferenceRequest& request);
  core::Status RunStep(size_t index);
  core::Status StoppedAt(size_t index) const;
  bool stopped() const { return stop_.load(std::memory_order_acquire); }
  core::Status Keep(const Plan::Step& step, std::span<const core::Context::TensorOutput> computed);

  const Plan& plan_;
  std::atomic<bool> stop_{false};  // ends the creation of a context or the compute of a step, whichever runs
  std::vector<std::unique_ptr<core::Context>> contexts_;
  std::vector<core::TensorPtr> tensors_;  // values for Plan::tensors during a run
};

}  // namespace wasinn::pipeline
