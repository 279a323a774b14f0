// Counts allocations, through the library of bench/count_allocations.c.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/runner.h"

namespace wasinn::bench {

// Runs the command again, with the same arguments and the library preloaded. Returns if it is already preloaded, or if
// there is no library.
void RunUnderCounter();

// The allocations of one inference on the calling thread, after a first one; nullopt without the library.
Result<std::optional<double>> CountAllocations(Runner& runner, uint64_t inferences);

}  // namespace wasinn::bench
