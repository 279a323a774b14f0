// The OS processes that this one has started, and those have: templates, and their workers.
#pragma once

#include <cstddef>

namespace wasinn::testing {

// From now on a process whose parent has ended is this one's. Before the first host.
void AdoptDescendants();

// Living ones, and dead ones that were not waited for: zygotes are children of this process, workers theirs.
struct Descendants {
  size_t templates = 0, workers = 0;
};
// Waits for those of this process that have ended.
Descendants CountDescendants();

}  // namespace wasinn::testing
