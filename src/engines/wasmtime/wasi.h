// What the command line says about a guest's surroundings, for WASI preview 1 and 2.
#pragma once

#include <wasmtime.h>

#include "engines/engine.h"

namespace wasinn::wasmtime {

engines::Result<void> SetWasi(wasmtime_context_t* context, const engines::RunOptions& options);

// Whether the system gives so many threads at once.
bool SystemGivesThreads(unsigned count);

// Has WASI preview 1 start the threads that it needs for files and streams, which it otherwise does at a guest's first
// call. A guest with threads may have used up by then what the system gives, and Wasmtime does not end well. The linker
// has WASI.
engines::Result<void> StartWasi(wasm_engine_t* engine, wasmtime_linker_t* linker);

}  // namespace wasinn::wasmtime
