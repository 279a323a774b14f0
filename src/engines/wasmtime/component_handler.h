// Programs that are components and answer HTTP requests: WASI 0.2 and 0.3, wasi:nn, and the export
// wasi:http/incoming-handler or wasi:http/handler.
#pragma once

#include <wasmtime.h>

#include <functional>
#include <memory>

#include "engines/engine.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/precompiled.h"
#include "engines/wasmtime/store_limits.h"

namespace wasinn::wasmtime {

// Whether it answers HTTP requests.
bool ExportsHandler(const wasmtime_component_t* component);

// WASI for a component of this kind, with wasi:http if `has_http`.
engines::Result<void> LinkWasi(wasmtime_component_linker_t* linker, ProgramKind kind, bool has_http);

// Links the result of `compile`, if this Wasmtime serves such components. Their runs have an HttpExchange.
engines::Result<std::unique_ptr<engines::Program>> LoadHandler(
    wasm_engine_t* engine, ProgramKind kind, const std::function<engines::Result<ComponentPtr>()>& compile,
    LimitedCode code);

}  // namespace wasinn::wasmtime
