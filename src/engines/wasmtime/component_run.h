// Programs that are components: WASI preview 2, wasi:nn, and the export wasi:cli/run.
#pragma once

#include <wasmtime.h>

#include <functional>
#include <memory>
#include <vector>

#include "engines/engine.h"
#include "engines/memories.h"
#include "engines/wasmtime/handles.h"

namespace wasinn::wasmtime {

// Links what `compile` gives, once it is known that this Wasmtime serves components at all.
engines::Result<std::unique_ptr<engines::Program>> LoadComponent(
    wasm_engine_t* engine, const std::function<engines::Result<ComponentPtr>()>& compile,
    std::vector<engines::MemoryType> memories);

}  // namespace wasinn::wasmtime
