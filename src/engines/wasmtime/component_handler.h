// Programs that are components and answer HTTP requests: WASI preview 2, wasi:nn, and the export wasi:http/incoming-handler.
#pragma once

#include <wasmtime.h>

#include <functional>
#include <memory>

#include "engines/engine.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/store_limits.h"

namespace wasinn::wasmtime {

// Whether it answers HTTP requests.
bool ExportsHandler(const wasmtime_component_t* component);

// Links the result of `compile`, if this Wasmtime serves such components. Their runs have an HttpExchange.
engines::Result<std::unique_ptr<engines::Program>> LoadHandler(
    wasm_engine_t* engine, const std::function<engines::Result<ComponentPtr>()>& compile, LimitedCode code);

}  // namespace wasinn::wasmtime
