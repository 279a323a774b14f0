// A guest's surroundings, from the command line, for WASI preview 1 and 2.
#pragma once

#include <wasmtime.h>

#include "engines/engine.h"

namespace wasinn::wasmtime {

engines::Result<void> SetWasi(wasmtime_context_t* context, const engines::RunOptions& options);

// Whether the system gives that many threads at once.
bool SystemGivesThreads(unsigned count);

// Starts the threads that WASI preview 1 needs for files and streams, which would otherwise start at a guest's first
// call. By then, a guest with threads may have used up what the system gives, and Wasmtime would crash. The linker has
// WASI.
engines::Result<void> StartWasi(wasm_engine_t* engine, wasmtime_linker_t* linker);

}  // namespace wasinn::wasmtime
