// Wakes guest threads that wait for a notification (memory.atomic.wait), so that they see the end of their guest.
#pragma once

#include <wasmtime.h>

#include <functional>

namespace wasinn::wasmtime {

// Notifies every address of a shared memory that a thread may wait at. The C API cannot notify, but a module can:
// wasinn's own is instantiated on the memory. An address takes about 20 ns, so `goes_on` is asked now and then. The
// engine must support shared memory and epochs.
void WakeParked(wasm_engine_t* engine, const wasmtime_sharedmemory_t* memory, const std::function<bool()>& goes_on);

}  // namespace wasinn::wasmtime
