// Turns Wasmtime's errors and traps into messages and exit codes of the wasinn command.
#pragma once

#include <wasinn/wasinn.h>
#include <wasmtime.h>

#include "engines/engine.h"

namespace wasinn::wasmtime {

// NULL is success. Deletes the error; its causes are joined in one line.
engines::Result<void> TakeError(wasmtime_error_t* error);

// As above, for a status of wasinn.
engines::Result<void> TakeStatus(wasinn_status* status);

// The outcome of a call into the guest; deletes both.
engines::Exit ToExit(wasmtime_error_t* error, wasm_trap_t* trap);

// As above, for a component, whose traps are errors, too.
engines::Exit ToExit(wasmtime_error_t* error);

}  // namespace wasinn::wasmtime
