// A subcommand for program.cc: a function that adds its flags, and a function that runs it after they are parsed.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace wasinn::cli {

struct Command {
  CLI::App* app;
  // Returns the exit code; may throw CLI::ParseError for a usage error. Keeps the parsed flags alive.
  std::function<int()> run;
};

Command AddDemoCommand(CLI::App& app);
Command AddRunCommand(CLI::App& app);
Command AddCompileCommand(CLI::App& app);
Command AddInspectCommand(CLI::App& app);
Command AddBackendsCommand(CLI::App& app);
Command AddDoctorCommand(CLI::App& app);
Command AddModelsCommand(CLI::App& app);
Command AddNewCommand(CLI::App& app);
Command AddCheckCommand(CLI::App& app);
Command AddCheckBackendCommand(CLI::App& app);
// Describe the other commands of `app`, so they come last.
Command AddCompletionsCommand(CLI::App& app);
Command AddHelpCommand(CLI::App& app);

}  // namespace wasinn::cli
