// Where a guest's inference spends its time, by the host's own metrics: the split that Triton's perf_analyzer prints.
#pragma once

#include <string>
#include <wasinn/wasinn.hpp>

#include "bench/measure.h"

namespace wasinn::bench {

// Of one inference, on average, in microseconds. docs/metrics.md says what each step is.
struct Steps {
  double queue = 0, compute_input = 0, compute_infer = 0, compute_output = 0;
  double rest = 0;  // of the inference as the bench times it: the engine, the ABI, and reading clocks
};

// What a host with the setting `metrics` has counted so far.
struct StepSums {
  double inferences = 0;
  Steps us;  // of all inferences; without a rest
};
// From the text of Host::Metrics, for one model.
StepSums ParseSteps(const std::string& metrics, const std::string& model);

// Of the inferences between two readings, which are `samples` from outside.
Steps MeanSteps(const StepSums& before, const StepSums& after, const Samples& samples);

}  // namespace wasinn::bench
