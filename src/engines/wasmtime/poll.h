// WASI preview 1's poll_oneoff for programs of a host that goes on after them: a sleep ends with its run, which
// Wasmtime's own function does not see. Such programs have engines::Streams, which are always ready.
#pragma once

#include <wasmtime.h>

#include "engines/engine.h"
#include "engines/guest_run.h"

namespace wasinn::wasmtime {

// Replaces the linker's function. `run_of` returns the calling run.
engines::Result<void> DefinePoll(wasmtime_linker_t* linker, const engines::GuestRun& (*run_of)(wasmtime_context_t*));

}  // namespace wasinn::wasmtime
