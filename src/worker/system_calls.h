// The system calls of a sealed worker.
#pragma once

#include <expected>
#include <string>

#include "worker/sandbox_options.h"

namespace wasinn::worker {

// For all threads of this process, and for good: other calls fail with EPERM, and calls that only an attacker would try
// end the process.
std::expected<void, std::string> FilterSystemCalls(const SandboxOptions& options);

}  // namespace wasinn::worker
