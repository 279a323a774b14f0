// The wiring of a pipeline: which tensor goes from which step to which.
#pragma once

#include <wasinn/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/models/graph.h"
#include "core/models/model_options.h"
#include "core/status.h"

namespace wasinn::pipeline {

// A tensor of a pipeline, and what is known about it.
struct Io {
  // Copies a model's io, under the pipeline's name.
  Io(std::string its_name, const wasinn_io& like);
  // For an output that its model does not describe: only the name is known.
  explicit Io(std::string its_name) : name(std::move(its_name)) {}
  // The result points into this object, which must not move any more.
  wasinn_io ToC() const;

  std::string name, type_name;
  uint32_t dtype = WASINN_DTYPE_UNKNOWN, flags = 0;
  int32_t rank = -1;
  std::vector<int64_t> dims;
};

// Checks whether a step's output may be a later step's input, as far as their signatures say.
core::Status CheckFits(const Io& made, const wasinn_io& taken);
// For an input of several steps: narrows `io` to what all of them accept.
core::Status Narrow(Io& io, const wasinn_io& like);

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
