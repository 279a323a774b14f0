// What a subcommand is to main.cc: a function that adds its flags, and a function that runs it once they are parsed.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace wasinn::cli {

struct Command {
  CLI::App* app;
  // Returns the exit code; may throw CLI::ParseError for a usage error. Keeps alive what the flags were parsed into.
  std::function<int()> run;
};

Command AddRunCommand(CLI::App& app);
Command AddInspectCommand(CLI::App& app);
Command AddBackendsCommand(CLI::App& app);
Command AddCheckBackendCommand(CLI::App& app);

// bench is another program, which has its flags. StartBench does not return if it starts: this OS process becomes it. `argv`: "bench" and
// what follows it.
void ListBenchCommand(CLI::App& app);
int StartBench(char** argv);

}  // namespace wasinn::cli
