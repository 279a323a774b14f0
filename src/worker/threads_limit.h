// How many threads this OS process may have. The kernel has a limit for all processes of a user together, and none for
// root.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "worker/self_status.h"

namespace wasinn::worker {

// Where the system lets it, this process is a user of its own from here on, as far as threads are counted; what it may
// open stays. True: so it is. Else its user's processes may be no more by this one than half of what that may have, so
// that the others go on. Only while this is the only thread, and has its capabilities.
std::expected<bool, std::string> CountThreadsApart();

// Of a process that is counted apart: some threads more than there are now, and one for each stack in `max_bytes` of
// memory (0: no limit of memory).
std::expected<void, std::string> LimitThreads(const SelfStatus& status, uint64_t max_bytes);

}  // namespace wasinn::worker
