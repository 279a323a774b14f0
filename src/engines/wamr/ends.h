// How WAMR's guests end, in the words and exit codes of the wasinn command.
#pragma once

#include <wasm_export.h>

#include <string>

#include "engines/engine.h"

namespace wasinn::wamr {

// After wasm_application_execute_main. `program` names the guest in a backtrace.
engines::Exit HowItEnded(wasm_module_inst_t instance, const std::string& program);

// An instance that was not made, for WAMR's reason.
engines::Exit FailedToStart(const std::string& reason, const engines::RunOptions& options);

}  // namespace wasinn::wamr
