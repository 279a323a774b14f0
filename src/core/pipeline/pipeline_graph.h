// A pipeline that is loaded: the graphs of its steps, which guests may name too, and its own signature.
#pragma once

#include <wasinn/backend.h>

#include <string>
#include <vector>

#include "core/pipeline/plan.h"

namespace wasinn::pipeline {

// Constant once it is made.
class PipelineGraph {
 public:
  explicit PipelineGraph(Plan plan);
  PipelineGraph(const PipelineGraph&) = delete;
  PipelineGraph& operator=(const PipelineGraph&) = delete;
  static PipelineGraph& Of(wasinn_backend_graph* graph) { return *reinterpret_cast<PipelineGraph*>(graph); }

  const Plan& plan() const { return plan_; }
  const wasinn_info& info() const { return info_; }
  // A JSON object: the steps, and what each takes and makes.
  const char* description() const { return description_.c_str(); }
  // The worker of a step is gone.
  bool lost() const;

 private:
  const Plan plan_;
  std::vector<wasinn_io> ios_;  // of plan_.tensors
  std::vector<const wasinn_io*> inputs_, outputs_;
  wasinn_info info_{};
  std::string description_;
};

}  // namespace wasinn::pipeline
