// A pipeline in the host's configuration: models that are computed one after the other, in the words of Triton's
// ensembles.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace wasinn::pipeline {

// From names of a model's tensors to names in the pipeline.
using Names = std::map<std::string, std::string>;

struct StepSpec {
  std::string model_name;
  Names input_map, output_map;  // none: the tensors have the model's names
};

struct Spec {
  std::vector<StepSpec> steps;       // empty: it is no pipeline
  std::vector<std::string> inputs;   // empty: the tensors that no step makes
  std::vector<std::string> outputs;  // empty: those that no step takes
  bool empty() const { return steps.empty(); }
};

}  // namespace wasinn::pipeline
