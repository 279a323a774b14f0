// Engines of Wasmtime, with the settings that the options ask for.
#pragma once

#include <string>

#include "engines/engine.h"
#include "engines/wasmtime/handles.h"

namespace wasinn::wasmtime {

// Of programs with threads: they can always be interrupted, and have nothing of the pool, for what they share outlives
// instances; each thread would have fuel of its own, so none is measured.
engines::EngineOptions ForThreads(engines::EngineOptions options);

// Takes nothing of the options but what configures code and memories. Fails where the system has no room for the pool.
engines::Result<EnginePtr> NewEngine(const engines::EngineOptions& options);

// What of the options compiled code depends on.
std::string CodeSettings(const engines::EngineOptions& options);

}  // namespace wasinn::wasmtime
