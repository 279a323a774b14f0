// The host of a library that another program loads: there are no flags, so all settings come from a file and the
// environment.
#pragma once

#include <wasinn/wasinn.hpp>

namespace wasinn::settings {

// WASINN_CONFIG names the TOML file. The environment overrides it: WASINN_NN_TIMEOUT and so on, as for the command.
// WASINN_MODELS has the models, separated by semicolons: NAME=PATH, or folders with a model in each subfolder.
// `dialect`: the guests' numbers for formats, unless the file or the environment sets it. `encoding`: the only one that
// guests may load; NULL: those of the policy. The log goes to stderr.
Result<Host> MakeHost(const char* dialect, const char* encoding = nullptr);

// Writes one line to stderr.
void Log(LogLevel level, const char* message);
void LogRecord(const wasinn_log_record& record);

}  // namespace wasinn::settings
