// Counting allocations, through the library that bench/count_allocations.c is.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/runner.h"

namespace wasinn::bench {

// Runs the command anew, with the same arguments, so that the library is there from the beginning. Returns if it is
// already, and if it cannot be had.
void RunUnderCounter();

// Allocations of one inference on the calling thread, once it is warm; nothing without the library.
Result<std::optional<double>> CountAllocations(Runner& runner, uint64_t inferences);

}  // namespace wasinn::bench
