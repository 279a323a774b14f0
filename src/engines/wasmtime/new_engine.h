// Engines of Wasmtime, with the settings of the options.
#pragma once

#include <string>

#include "engines/engine.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/precompiled.h"

namespace wasinn::wasmtime {

// For programs with threads: they can always be interrupted, and use no pool, because shared objects outlive instances.
// Each thread would have fuel of its own, so none is measured.
engines::EngineOptions ForThreads(engines::EngineOptions options);

// Only uses options that configure code and memories. Fails if the system has no room for the pool, or if this Wasmtime
// has no asynchronous functions and `kind` needs them.
engines::Result<EnginePtr> NewEngine(const engines::EngineOptions& options, ProgramKind kind = ProgramKind::kModule);

// The options that compiled code depends on.
std::string CodeSettings(const engines::EngineOptions& options);

}  // namespace wasinn::wasmtime
