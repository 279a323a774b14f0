// Outputs that a caller takes with it.
#ifndef WASINN_TESTS_BACKENDS_TAKEN_H_
#define WASINN_TESTS_BACKENDS_TAKEN_H_

#include <cstdint>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::test {

// What this OS process has allocated and not freed.
uint64_t AllocatedBytes();

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_TAKEN_H_
