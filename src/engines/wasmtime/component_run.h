// Programs that are components: WASI preview 2, wasi:nn, and the export wasi:cli/run.
#pragma once

#include <wasmtime.h>

#include <memory>
#include <string>

#include "engines/engine.h"
#include "engines/wasmtime/compile.h"

namespace wasinn::wasmtime {

// Compiles and links.
engines::Result<std::unique_ptr<engines::Program>> LoadComponent(wasm_engine_t* engine, const Compiler& compiler,
                                                                 const std::string& wasm);

}  // namespace wasinn::wasmtime
