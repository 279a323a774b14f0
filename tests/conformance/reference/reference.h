// A framework called directly, as any program calls it: what guests' results are compared with. One program for each
// framework, so that they stay out of each other's way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::testing {

using Names = std::vector<std::string>;

// Outputs for inputs.
using Infer = std::function<std::vector<test::Tensor>(const std::vector<test::Tensor>&)>;

// Of the model's inputs to its outputs; throws what the framework says. A framework that goes by names goes by these,
// which are its own; others give all outputs in the model's order.
Infer OpenModel(const std::string& path, const Names& inputs, const Names& outputs);

}  // namespace wasinn::testing
