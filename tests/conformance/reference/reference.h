// A framework called directly, as any program calls it: what guests' results are compared with. One program for each
// framework, so that they stay out of each other's way.
#pragma once

#include <functional>
#include <string>

#include "backends/test_host.h"

namespace wasinn::testing {

// The bytes of an output for an input.
using Infer = std::function<std::string(const test::Tensor&)>;

// Of the model's only input, to the output of this name; throws what the framework says. Names are those that the
// framework itself goes by.
Infer OpenModel(const std::string& path, const std::string& input, const std::string& output);

}  // namespace wasinn::testing
