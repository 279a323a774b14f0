// What the command line says about a guest's surroundings, for WASI preview 1 and 2.
#pragma once

#include <wasmtime.h>

#include "engines/engine.h"

namespace wasinn::wasmtime {

engines::Result<void> SetWasi(wasmtime_context_t* context, const engines::Guest& guest);

}  // namespace wasinn::wasmtime
