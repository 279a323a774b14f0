// What a subcommand is to main.cc: a function that adds its flags, and a function that runs it once they are parsed.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <optional>

namespace wasinn::cli {

struct Command {
  CLI::App* app;
  // Returns the exit code; may throw CLI::ParseError for a usage error. Keeps alive what the flags were parsed into.
  std::function<int()> run;
};

Command AddRunCommand(CLI::App& app);
Command AddCompileCommand(CLI::App& app);
Command AddInspectCommand(CLI::App& app);
Command AddBackendsCommand(CLI::App& app);
Command AddCheckBackendCommand(CLI::App& app);

// bench and serve are other programs, which have their flags. `argv`: what follows "wasinn". If that begins with one of them and it starts,
// this OS process becomes it; else there is an exit code, or nothing where it begins with another word.
void ListOtherPrograms(CLI::App& app);
std::optional<int> StartOtherProgram(char** argv);

}  // namespace wasinn::cli
