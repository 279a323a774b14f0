// Programs that are components: WASI preview 2, wasi:nn, and the export wasi:cli/run or the function that is invoked.
#pragma once

#include <wasmtime.h>

#include <functional>
#include <memory>

#include "engines/engine.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/store_limits.h"

namespace wasinn::wasmtime {

// Links what `compile` gives, once it is known that this Wasmtime serves components at all.
engines::Result<std::unique_ptr<engines::Program>> LoadComponent(
    wasm_engine_t* engine, const engines::EngineOptions& options,
    const std::function<engines::Result<ComponentPtr>()>& compile, LimitedCode code);

}  // namespace wasinn::wasmtime
