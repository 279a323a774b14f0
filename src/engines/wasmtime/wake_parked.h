// Waking guest threads that wait for a notification (memory.atomic.wait), so that they see that their guest has ended.
#pragma once

#include <wasmtime.h>

#include <chrono>
#include <functional>

namespace wasinn::wasmtime {

// Notifies every address of a shared memory that a thread may be waiting at. The C API cannot notify, but a module can:
// one of ours is instantiated on the memory. Takes about 20 ns an address, and gives up at `until`; calls `tick` now
// and then. The engine is one that has shared memory and epochs.
void WakeParked(wasm_engine_t* engine, const wasmtime_sharedmemory_t* memory,
                std::chrono::steady_clock::time_point until, const std::function<void()>& tick);

}  // namespace wasinn::wasmtime
