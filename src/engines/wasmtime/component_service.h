// Instances of components that answer several requests: wasi:http/handler@0.3.
#pragma once

#include <memory>

#include "engines/engine.h"
#include "engines/wasmtime/handler_abi.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/store_limits.h"

namespace wasinn::wasmtime {

// `handler`: it may stay. As for engines::Program::Start.
engines::Result<std::unique_ptr<engines::Service>> NewComponentService(EnginePtr engine,
                                                                       const wasinn_component_handler* handler,
                                                                       const StoreLimits& limits,
                                                                       const engines::RunOptions& options);

}  // namespace wasinn::wasmtime
