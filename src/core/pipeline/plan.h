// The wiring of a pipeline: which tensor goes from which step to which.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/models/graph.h"
#include "core/models/model_options.h"
#include "core/pipeline/io.h"

namespace wasinn::pipeline {

struct Plan {
  struct Port {
    uint32_t index;    // in the model; kLate for an output that is only known after a run
    uint32_t tensor;   // in `tensors`
    std::string name;  // in the model
  };
  static constexpr uint32_t kLate = UINT32_MAX;
  struct Step {
    std::string model_name;
    std::shared_ptr<const core::Graph> graph;
    std::vector<Port> inputs, outputs;
    std::vector<uint32_t> last;  // tensors that are neither outputs nor used by a later step
    // Outputs that stay in their device's memory, because all steps that use them compute there: their indices in the
    // model, ascending.
    std::vector<uint32_t> kept;
  };

  std::vector<Step> steps;
  std::vector<Io> tensors;
  std::vector<uint32_t> inputs, outputs;  // in `tensors`
};

// "step 2 ('embedding')"
std::string NameOfStep(size_t index, const std::string& model_name);

// INVALID_ARGUMENT names the step whose names, types or shapes do not fit. `graphs`: one for each step.
core::Result<Plan> MakePlan(const Spec& spec, std::span<const std::shared_ptr<core::Graph>> graphs);

}  // namespace wasinn::pipeline
