// Wasmtime's errors and traps as the words and exit codes of the wasinn command.
#pragma once

#include <wasinn/wasinn.h>
#include <wasmtime.h>

#include "engines/engine.h"

namespace wasinn::wasmtime {

// NULL is success. Deletes the error; its causes are joined in one line.
engines::Result<void> TakeError(wasmtime_error_t* error);

// The same for a status of wasinn's.
engines::Result<void> TakeStatus(wasinn_status* status);

// How a call into the guest ended; deletes both.
engines::Exit ToExit(wasmtime_error_t* error, wasm_trap_t* trap);

// The same for a component, of which traps are errors too.
engines::Exit ToExit(wasmtime_error_t* error);

}  // namespace wasinn::wasmtime
