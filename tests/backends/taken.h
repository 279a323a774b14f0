// Outputs that a caller takes with it.
#ifndef WASINN_TESTS_BACKENDS_TAKEN_H_
#define WASINN_TESTS_BACKENDS_TAKEN_H_

#include <cstdint>
#include <vector>

#include "backends/driver.h"

namespace wasinn::test {

// What this OS process has allocated and not freed.
uint64_t AllocatedBytes();

// A context is charged for its output 0 once: what was taken of it and comes back is freed or charged beside that, and
// it is nothing beside a context that is gone. The model's output must be of a fixed shape, and large.
void ExpectTakenOutputsAreFreed(const Model& model, const std::vector<Tensor>& inputs);

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_TAKEN_H_
