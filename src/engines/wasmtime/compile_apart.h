// Compiles in an OS process with limits. A program of 500 bytes can make a compiler use gigabytes, and Wasmtime ends
// the process if it gets no more memory.
#pragma once

#include <string>

#include "engines/engine.h"
#include "engines/wasmtime/precompiled.h"

namespace wasinn::wasmtime {

// The same as CodeOf, by an engine with these options. Starts this program again (RunCompiler). Thread-safe.
engines::Result<std::string> CompileApart(const engines::EngineOptions& options, ProgramKind kind,
                                          const std::string& wasm);
// As above, for text: the same result as ParseText.
engines::Result<std::string> ParseApart(const engines::CompileLimits& limits, const std::string& text);

}  // namespace wasinn::wasmtime
