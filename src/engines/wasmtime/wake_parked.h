// Waking guest threads that wait for a notification (memory.atomic.wait), so that they see that their guest has ended.
#pragma once

#include <wasmtime.h>

#include <functional>

namespace wasinn::wasmtime {

// Notifies every address of a shared memory that a thread may be waiting at. The C API cannot notify, but a module can:
// one of ours is instantiated on the memory. An address takes some 20 ns, so `goes_on` is asked now and then. The
// engine is one that has shared memory and epochs.
void WakeParked(wasm_engine_t* engine, const wasmtime_sharedmemory_t* memory, const std::function<bool()>& goes_on);

}  // namespace wasinn::wasmtime
