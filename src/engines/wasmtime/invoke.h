// One exported function of a module instead of its program: its parameters from words, its results as lines.
#pragma once

#include <wasmtime.h>

#include <span>
#include <string>

#include "engines/engine.h"

namespace wasinn::wasmtime {

// Checks that the module exports the function, and that all its parameters and results are numbers.
engines::Result<void> CheckInvoked(wasm_engine_t* engine, const wasmtime_module_t* module, const std::string& name);

// Calls _initialize first, if the module is a library. Results go to this process's standard output.
engines::Exit Invoke(wasmtime_context_t* context, const wasmtime_instance_t& instance, const std::string& name,
                     std::span<const std::string> words);

}  // namespace wasinn::wasmtime
