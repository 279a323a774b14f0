// Which system calls a sealed worker may make.
#pragma once

#include <expected>
#include <string>

#include "worker/sandbox_options.h"

namespace wasinn::worker {

// For all threads of this process, and for good: what is not on the list fails with EPERM, what only an attacker would try ends the
// process.
std::expected<void, std::string> FilterSystemCalls(const SandboxOptions& options);

}  // namespace wasinn::worker
