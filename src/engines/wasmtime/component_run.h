// Programs that are components: WASI 0.2 and 0.3, wasi:nn, and the export wasi:cli/run or the invoked function.
#pragma once

#include <wasmtime.h>

#include <functional>
#include <memory>

#include "engines/engine.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/precompiled.h"
#include "engines/wasmtime/store_limits.h"

namespace wasinn::wasmtime {

// Links the result of `compile`, after a check that this Wasmtime serves components.
engines::Result<std::unique_ptr<engines::Program>> LoadComponent(
    wasm_engine_t* engine, ProgramKind kind, const engines::EngineOptions& options,
    const std::function<engines::Result<ComponentPtr>()>& compile, LimitedCode code);

}  // namespace wasinn::wasmtime
