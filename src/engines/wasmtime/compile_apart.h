// Compiling in an OS process with limits. A program of 500 bytes can make a compiler take gigabytes, and Wasmtime ends the
// process that gets no more memory.
#pragma once

#include <string>

#include "engines/engine.h"
#include "engines/wasmtime/precompiled.h"

namespace wasinn::wasmtime {

// What CodeOf gives, of an engine with these options. Starts this program once more (RunCompiler), and waits for it. Any thread.
engines::Result<std::string> CompileApart(const engines::EngineOptions& options, ProgramKind kind,
                                          const std::string& wasm);
// The same for its text: what ParseText gives.
engines::Result<std::string> ParseApart(const engines::CompileLimits& limits, const std::string& text);

}  // namespace wasinn::wasmtime
