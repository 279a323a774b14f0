// Limits the threads of this OS process. The kernel has a limit for all processes of a user together, and none for
// root.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "worker/self_status.h"

namespace wasinn::worker {

// If the system allows it, this process becomes a user of its own for the count of threads, with the same permissions
// for files. True: it did. Else its user's processes together may at most reach half of that user's limit by this one,
// so that the others can go on. Call it while there is only one thread, with its capabilities.
std::expected<bool, std::string> CountThreadsApart();

// For a process that is counted separately: some threads more than now, and one for each stack in `max_bytes` of memory
// (0: no limit of memory).
std::expected<void, std::string> LimitThreads(const SelfStatus& status, uint64_t max_bytes);

}  // namespace wasinn::worker
