// Commands that are programs of their own, beside this one.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/description.h"

namespace wasinn::cli {

void ListOtherPrograms(CLI::App& app);
bool IsOtherProgram(const std::string& command);

// `argv`: what follows "wasinn". If that begins with one of them and it starts, this OS process becomes it; else there is an exit code, or
// nothing where it begins with another word.
std::optional<int> StartOtherProgram(char** argv);

// The command that gets what this installation of wasinn lacks, by its name ("serve", "wamr"): its package knows it; else `own`.
std::string HowToInstall(std::string_view name, const std::string& own);

std::string HowToGetWamr();

// What the program says of itself; nothing where it is not installed, or does not say.
std::optional<CommandText> DescribeOtherProgram(const std::string& command);

}  // namespace wasinn::cli
