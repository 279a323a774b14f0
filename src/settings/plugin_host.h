// What a library that another program loads knows of its host: there are no flags, so all comes from a file and the
// environment.
#pragma once

#include <wasinn/wasinn.hpp>

namespace wasinn::settings {

// WASINN_CONFIG names the TOML file, which the environment beats: WASINN_NN_TIMEOUT and so on, as for the command.
// WASINN_MODELS has the models, separated by semicolons: NAME=PATH, or folders with a model in each subfolder.
// `dialect`: whose numbers guests use for formats, unless the file or the environment knows better. `encoding`: the
// only one that guests may load; NULL: those of the policy. The log goes to stderr.
Result<Host> MakeHost(const char* dialect, const char* encoding = nullptr);

// One line on stderr.
void Log(LogLevel level, const char* message);
void LogRecord(const wasinn_log_record& record);

}  // namespace wasinn::settings
