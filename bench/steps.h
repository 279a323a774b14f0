// The time of a guest's inference by steps, from the host's own metrics. Triton's perf_analyzer prints the same split.
#pragma once

#include <string>
#include <wasinn/wasinn.hpp>

#include "bench/measure.h"

namespace wasinn::bench {

// Averages of one inference, in microseconds. docs/metrics.md defines the steps.
struct Steps {
  double queue = 0, compute_input = 0, compute_infer = 0, compute_output = 0;
  double rest = 0;  // of the time that the bench measures: the engine, the ABI, and reading clocks
};

// The counters of a host with the setting `metrics`.
struct StepSums {
  double inferences = 0;
  Steps us;  // of all inferences, without `rest`
};
// Reads the text of Host::Metrics, for one model.
StepSums ParseSteps(const std::string& metrics, const std::string& model);

// The averages of the inferences between two readings; `samples` are their times from outside.
Steps MeanSteps(const StepSums& before, const StepSums& after, const Samples& samples);

}  // namespace wasinn::bench
