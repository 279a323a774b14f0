// Wasmtime's errors and traps as the words and exit codes of the wasinn command.
#pragma once

#include <wasmtime.h>

#include "engines/engine.h"

namespace wasinn::wasmtime {

// NULL is success. Deletes the error; its causes are joined in one line.
engines::Result<void> TakeError(wasmtime_error_t* error);

// How a call into the guest ended; deletes both.
engines::Exit ToExit(wasmtime_error_t* error, wasm_trap_t* trap);

}  // namespace wasinn::wasmtime
