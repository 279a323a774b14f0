// The functions that core modules import.
#pragma once

#include <wasinn/engine.h>

#include <cstdint>
#include <functional>
#include <span>

namespace wasinn::abi {

// Module `wasi_ephemeral_nn`: the six of wasi-nn.witx (https://github.com/WebAssembly/wasi-nn), and WasmEdge's extensions.
std::span<const wasinn_function> WitxFunctions();
// wasinn's own, module `wasinn_ext_0`.
std::span<const wasinn_function> ExtensionFunctions();
// WAMR's module `wasi_nn`.
std::span<const wasinn_function> LegacyFunctions();
// All of them.
std::span<const wasinn_function* const> AllFunctions();

// Begins a call that may need no thread: compute or compute_wait. Runs on a thread of the host, under a presence that
// lasts until `done` has returned. True: `done` is called once with the errno, perhaps at once. False: nothing was done,
// and the call goes the usual way. Everything that `call` points to outlives it.
bool BeginWithoutThread(const wasinn_call& call, const std::function<void(uint32_t)>& done) noexcept;

}  // namespace wasinn::abi
