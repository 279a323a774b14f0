// One exported function of a module in place of its program: its parameters from words, its results as lines.
#pragma once

#include <wasm_export.h>

#include <span>
#include <string>

#include "engines/engine.h"

namespace wasinn::wamr {

// Whether the module exports the function, and all its parameters and results are numbers.
engines::Result<void> CheckInvoked(wasm_module_t module, const std::string& name);

// Calls _initialize first, where the module is a library. Results go to this process's standard output. Failed: it did not begin; all
// else the instance knows.
engines::Result<void> Invoke(wasm_module_inst_t instance, const std::string& name, std::span<const std::string> words);

}  // namespace wasinn::wamr
