// Computes a model before any guest has it. Frameworks do some work only in the first computes: they allocate memory
// for intermediate values, generate code, pack weights.
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
  std::map<std::string, std::vector<uint32_t>> shapes;  // for inputs whose shapes the signature does not fix
};

// Computes on zeros, on a context of its own, until the first failure.
Status Run(const WarmUp& warm_up, std::shared_ptr<const Graph> graph, const Context::Options& options,
           const Resources& resources);

}  // namespace wasinn::core
