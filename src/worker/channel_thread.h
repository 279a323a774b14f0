// Threads that serve channels.
#pragma once

#include <cstdint>
#include <functional>

#include "core/status.h"

namespace wasinn::worker {

// What frameworks expect of a thread's stack, twice. It counts among what a worker may allocate.
inline constexpr uint64_t kChannelStack = 2u << 20;

// A thread of its own that ends with `run`.
core::Status StartChannelThread(std::function<void()> run);

}  // namespace wasinn::worker
