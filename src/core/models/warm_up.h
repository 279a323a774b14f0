// Computes a model before any guest has it. Frameworks do some work only in the first computes: they allocate memory
// for intermediate values, generate code, pack weights.
#pragma once

#include <memory>

#include "core/inference/context.h"
#include "core/models/model_options.h"

namespace wasinn::core {

// Computes on zeros, on a context of its own, until the first failure.
Status Run(const WarmUp& warm_up, std::shared_ptr<const Graph> graph, const Context::Options& options,
           const Resources& resources);

}  // namespace wasinn::core
