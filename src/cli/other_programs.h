// Commands that are separate programs, next to this one.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/description.h"

namespace wasinn::cli {

void ListOtherPrograms(CLI::App& app);
bool IsOtherProgram(const std::string& command);

// `argv`: the words after "wasinn". If the first names such a command and it starts, this OS process becomes it; if it
// does not start, the result is an exit code. No value: it names no such command.
std::optional<int> StartOtherProgram(char** argv);

// The command that installs a missing part of wasinn ("serve", "wamr"): from its package's hints; else `own`.
std::string HowToInstall(std::string_view name, const std::string& own);

std::string HowToGetWamr();

// The program's description of itself; no value if it is not installed, or has none.
std::optional<CommandText> DescribeOtherProgram(const std::string& command);

}  // namespace wasinn::cli
