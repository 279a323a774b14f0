// The outcome of WAMR's guests in the messages and exit codes of the wasinn command.
#pragma once

#include <wasm_export.h>

#include <string>

#include "engines/engine.h"

namespace wasinn::wamr {

// Call it after wasm_application_execute_main. `program` names the guest in a backtrace.
engines::Exit HowItEnded(wasm_module_inst_t instance, const std::string& program);

// For an instance that could not be made, with WAMR's reason.
engines::Exit FailedToStart(const std::string& reason, const engines::RunOptions& options);

}  // namespace wasinn::wamr
