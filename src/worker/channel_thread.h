// Threads that serve channels.
#pragma once

#include <cstdint>
#include <functional>

#include "core/status.h"

namespace wasinn::worker {

// Twice the stack that frameworks expect of a thread. It counts as memory that a worker may allocate.
inline constexpr uint64_t kChannelStack = 2u << 20;

// Starts a thread that ends with `run`.
core::Status StartChannelThread(std::function<void()> run);

}  // namespace wasinn::worker
