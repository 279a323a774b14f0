#include "bench/steps.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "settings/text.h"

namespace wasinn::bench {
namespace {

// Escapes a value like a label of Prometheus' text format.
std::string Label(const std::string& model) {
  std::string escaped;
  for (const char c : model) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return "{model=\"" + escaped + "\",";
}

}  // namespace

StepSums ParseSteps(const std::string& metrics, const std::string& model) {
  StepSums sums;
  const std::string label = Label(model);
  const auto add = [&](std::string_view line, const std::string& name, double unit, double& sum) {
    if (!line.starts_with(name + label)) return;
    sum += unit * std::stod(std::string(line.substr(line.rfind(' ') + 1)));
  };
  constexpr double kMicro = 1e6;
  for (const std::string& line : settings::Split(metrics, '\n')) {
    add(line, "wasinn_inference_duration_seconds_count", 1, sums.inferences);
    add(line, "wasinn_inference_queue_duration_seconds_sum", kMicro, sums.us.queue);
    add(line, "wasinn_inference_compute_input_duration_seconds_sum", kMicro, sums.us.compute_input);
    add(line, "wasinn_inference_compute_infer_duration_seconds_sum", kMicro, sums.us.compute_infer);
    add(line, "wasinn_inference_compute_output_duration_seconds_sum", kMicro, sums.us.compute_output);
  }
  return sums;
}

Steps MeanSteps(const StepSums& before, const StepSums& after, const Samples& samples) {
  const double inferences = after.inferences - before.inferences;
  if (inferences == 0 || samples.empty()) return {};
  const auto mean = [&](double Steps::* step) { return (after.us.*step - before.us.*step) / inferences; };
  Steps steps{.queue = mean(&Steps::queue),
              .compute_input = mean(&Steps::compute_input),
              .compute_infer = mean(&Steps::compute_infer),
              .compute_output = mean(&Steps::compute_output)};
  const double all = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size()) / 1e3;
  const double known = steps.queue + steps.compute_input + steps.compute_infer + steps.compute_output;
  steps.rest = std::max(0.0, all - known);
  return steps;
}

}  // namespace wasinn::bench
