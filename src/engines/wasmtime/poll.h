// WASI preview 1's poll_oneoff for programs of a host that goes on after them: a sleep ends with its run, which Wasmtime's own does not
// see. Such programs have engines::Streams, which are always ready.
#pragma once

#include <wasmtime.h>

#include "engines/engine.h"
#include "engines/guest_run.h"

namespace wasinn::wasmtime {

// In place of the linker's. `run_of` says whose run calls.
engines::Result<void> DefinePoll(wasmtime_linker_t* linker, const engines::GuestRun& (*run_of)(wasmtime_context_t*));

}  // namespace wasinn::wasmtime
