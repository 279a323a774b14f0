// `compute` of a call whose caller does not wait, if no thread must wait for it either.
#pragma once

#include <wasinn/engine.h>

#include <cstdint>
#include <functional>

namespace wasinn::abi {

// Runs on a thread of the host, under a presence that lasts until `done` has returned. True: `done` is called once with
// the errno, perhaps at once. False: nothing was done, and the call goes the usual way. Everything that `call` points
// to outlives it.
bool BeginCompute(const wasinn_call& call, const std::function<void(uint32_t)>& done) noexcept;

}  // namespace wasinn::abi
