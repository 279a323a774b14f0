// Limits of this OS process that the kernel enforces.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "worker/self_status.h"

namespace wasinn::worker {

// Limits a resource of setrlimit to `most`, for good. `name` is for the error.
std::expected<void, std::string> Limit(int resource, const char* name, uint64_t most);

// Makes this process the first to be killed when memory is short. If the system refuses, nothing else depends on it.
void OfferToOutOfMemoryKiller();

// No core file, few descriptors, a low priority, and the first to be killed when memory is short.
std::expected<void, std::string> LimitSelf(uint64_t most_descriptors);

// Limits the size of every file from now on, even in memory. Writing more fails; it does not end the process.
std::expected<void, std::string> LimitFiles(uint64_t most_bytes);

// Limits private writable memory, including threads' stacks, beyond the current amount.
std::expected<void, std::string> LimitMemory(const SelfStatus& status, uint64_t more_bytes);
// And limits all memory, including shared and read-only memory, to twice as much and malloc's reserve.
std::expected<void, std::string> LimitAddresses(const SelfStatus& status, uint64_t more_bytes);

}  // namespace wasinn::worker
