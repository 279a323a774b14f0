// What a native library of iwasm knows of its host: there are no flags, so all comes from a file and the environment.
#pragma once

#include <wasinn/wasinn.hpp>

namespace wasinn::iwasm {

// WASINN_CONFIG names the TOML file, which the environment beats: WASINN_NN_TIMEOUT and so on, as for the command.
// WASINN_MODELS has the models, separated by semicolons: NAME=PATH, or folders with a model in each subfolder.
// `encoding`: the only one that guests may load; NULL: those of the policy. The log goes to stderr.
Result<Host> MakeHost(const char* encoding);

// One line on stderr.
void Log(LogLevel level, const char* message);

}  // namespace wasinn::iwasm
