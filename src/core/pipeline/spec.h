// A pipeline as its host's configuration has it: models that are computed one after the other, by the words of Triton's
// ensembles.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace wasinn::pipeline {

// Names of a model's tensors, and what the pipeline calls them.
using Names = std::map<std::string, std::string>;

struct StepSpec {
  std::string model_name;
  Names input_map, output_map;  // none: the tensors have the model's names
};

struct Spec {
  std::vector<StepSpec> steps;       // none: it is no pipeline
  std::vector<std::string> inputs;   // none: the tensors that no step makes
  std::vector<std::string> outputs;  // none: those that no step takes
  bool empty() const { return steps.empty(); }
};

}  // namespace wasinn::pipeline
