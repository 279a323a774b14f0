// A loaded pipeline: the graphs of its steps, which guests may use by name, too, and its own signature.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/models/graph.h"
#include "core/models/model_registry.h"
#include "core/pipeline/plan.h"

namespace wasinn::pipeline {

inline constexpr char kEncoding[] = "pipeline";

// Constant after its creation.
class PipelineGraph final : public core::Graph {
 public:
  PipelineGraph(Plan plan, std::shared_ptr<core::ModelMetrics> metrics);

  core::Result<std::unique_ptr<core::Session>> NewSession(std::shared_ptr<const core::Graph> self,
                                                          const wasinn_slot_options& options, uint32_t most,
                                                          const core::Resources& resources) const override;
  const core::Backend* backend() const override { return nullptr; }
  const char* backend_name() const override { return kEncoding; }
  // The steps, with their inputs and outputs.
  const char* description() const override { return description_.c_str(); }
  // The worker of a step is gone.
  bool lost() const override;

  const Plan& plan() const { return plan_; }

 private:
  const Plan plan_;
  std::vector<wasinn_io> ios_;  // for plan_.tensors
  std::vector<const wasinn_io*> inputs_, outputs_;
  std::string description_;
};

// Each level of nested pipelines is a frame of every load and compute.
inline constexpr size_t kDeepest = 16;

// The model that a step names; null: there is none.
using FindSource = std::function<std::shared_ptr<const core::ModelSource>(const std::string& name)>;

// INVALID_ARGUMENT if a pipeline is a step of itself, so that a load would wait for itself, or if more than kDeepest
// are nested. Checks each step of each pipeline once, even if several paths lead there.
core::Status CheckNesting(const core::ModelSource& source, const FindSource& find);

}  // namespace wasinn::pipeline
