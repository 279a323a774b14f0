// Limits of this OS process that the kernel keeps.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "worker/self_status.h"

namespace wasinn::worker {

// Of a resource as setrlimit has it: no more than `most`, for good. `name` is for the error.
std::expected<void, std::string> Limit(int resource, const char* name, uint64_t most);

// Whether this process is the first to be killed is for the system: where it cannot be told, nothing else depends on it.
void OfferToOutOfMemoryKiller();

// No core file, few descriptors, behind others for the processor, the first to go when memory is short.
std::expected<void, std::string> LimitSelf(uint64_t most_descriptors);

// No file grows beyond this any more, also not one in memory. Writing then fails; it does not end the process.
std::expected<void, std::string> LimitFiles(uint64_t most_bytes);

// Private memory that can be written to, stacks of threads included, beyond what there is now.
std::expected<void, std::string> LimitMemory(const SelfStatus& status, uint64_t more_bytes);
// And all memory, shared and read-only too, within twice as much and what malloc sets aside.
std::expected<void, std::string> LimitAddresses(const SelfStatus& status, uint64_t more_bytes);

}  // namespace wasinn::worker
