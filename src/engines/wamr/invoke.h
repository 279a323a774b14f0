// One exported function of a module instead of its program: its parameters from words, its results as lines.
#pragma once

#include <wasm_export.h>

#include <span>
#include <string>

#include "engines/engine.h"

namespace wasinn::wamr {

// Checks that the module exports the function, and that all its parameters and results are numbers.
engines::Result<void> CheckInvoked(wasm_module_t module, const std::string& name);

// Calls _initialize first, if the module is a library. Results go to this process's standard output. An error: it did
// not begin; the instance has all other errors.
engines::Result<void> Invoke(wasm_module_inst_t instance, const std::string& name, std::span<const std::string> words);

}  // namespace wasinn::wamr
