// Outputs that a caller takes with it.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::test {

// What this OS process has allocated and not freed.
uint64_t AllocatedBytes();

}  // namespace wasinn::test
