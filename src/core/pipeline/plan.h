// What a pipeline's names come to: which tensor goes from which step to which.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/models/graph.h"
#include "core/pipeline/io.h"
#include "core/pipeline/spec.h"

namespace wasinn::pipeline {

struct Plan {
  struct Port {
    uint32_t index;    // of the model's; of an output that only a run tells, kLate
    uint32_t tensor;   // of `tensors`
    std::string name;  // the model's
  };
  static constexpr uint32_t kLate = UINT32_MAX;
  struct Step {
    std::string model_name;
    std::shared_ptr<const core::Graph> graph;
    std::vector<Port> inputs, outputs;
    std::vector<uint32_t> last;  // tensors that no later step takes, and which are no outputs
    // Of `outputs` those that stay in the memory of the device that computes them, as all who take them compute there:
    // their indices in the model, ascending.
    std::vector<uint32_t> kept;
  };

  std::vector<Step> steps;
  std::vector<Io> tensors;
  std::vector<uint32_t> inputs, outputs;  // of `tensors`
};

// "step 2 ('embedding')"
std::string NameOfStep(size_t index, const std::string& model_name);

// INVALID_ARGUMENT says which step's names, types or shapes do not fit. `graphs`: one for each step.
core::Result<Plan> MakePlan(const Spec& spec, std::span<const std::shared_ptr<core::Graph>> graphs);

}  // namespace wasinn::pipeline
