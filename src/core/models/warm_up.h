// Computes of a model before any guest has it: what a framework does at its first ones alone (memory for intermediate
// values, code that it makes, weights that it packs) is done then.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/inference/context.h"

namespace wasinn::core {

struct WarmUp {
  static constexpr uint32_t kMostComputes = 1000;
  uint32_t computes = 0;
  std::map<std::string, std::vector<uint32_t>> shapes;  // of inputs, where the signature does not fix them
};

// Computes on zeros, on a context of its own. The first compute that fails is the last.
Status Run(const WarmUp& warm_up, std::shared_ptr<const Graph> graph, const Context::Options& options,
           const Resources& resources);

}  // namespace wasinn::core
