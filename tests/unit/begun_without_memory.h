// Begun computes where memory is scarce, in programs that count allocations.
#pragma once

#include <climits>

#include "support/test.h"
#include "unit/begun_calls.h"
#include "unit/no_memory.h"

namespace wasinn::testing {

// With memory for no allocation, for one, for two … until there is enough: the end of each is reported.
inline void ExpectReportedWithoutMemory(BegunProgram& program, uint32_t context) {
  for (int allowed = 0, failed = 1; failed > 0; ++allowed) {
    const auto begun = program.Compute(context);
    {
      const NoMemory scarce(allowed, INT_MAX);
      begun->Begin();
      failed = NoMemory::failed();
    }
    EXPECT_EQ(begun->Await(), failed > 0 ? kRuntimeError : kSuccess) << allowed;
  }
}

}  // namespace wasinn::testing
