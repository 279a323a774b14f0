// `compute` of a call that nobody waits for, where no thread need wait either.
#pragma once

#include <wasinn/engine.h>

#include <cstdint>
#include <functional>

namespace wasinn::abi {

// On a thread of the host's, under a presence that lasts until `done` has returned. True: `done` is called once with the
// errno, perhaps at once. False: nothing was done, and the call goes the way of all others. All that `call` points to
// outlives it.
bool BeginCompute(const wasinn_call& call, const std::function<void(uint32_t)>& done) noexcept;

}  // namespace wasinn::abi
