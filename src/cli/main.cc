// The wasinn command. Each subcommand is a file of its own and one line in kCommands.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/ending.h"
#include "cli/help.h"
#include "cli/log.h"

namespace wasinn::cli {
namespace {

constexpr Command (*kCommands[])(CLI::App&) = {AddRunCommand, AddCompileCommand, AddInspectCommand, AddBackendsCommand,
                                               AddCheckBackendCommand};

constexpr char kExample[] =
    "Example:\n"
    "  wasinn run --model digits=digits.onnx --dir . classify.wasm photo.png\n\n"
    "`wasinn COMMAND --help` has the flags of a command.";

int UsageErrorOf(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  const std::vector<std::string> unknown = app.remaining();
  // CLI11 would say that a command is missing.
  const std::string message = commands.empty() && !unknown.empty() ? "unknown command " + unknown[0] : error.what();
  return UsageError("wasinn" + (commands.empty() ? "" : " " + commands[0]->get_name()), message);
}

int Main(int argc, char** argv) {
  if (const std::optional<int> code = StartOtherProgram(argv + 1)) return *code;
  CLI::App app("Runs WebAssembly programs that use machine-learning models on the host's frameworks, through wasi-nn.",
               "wasinn");
  app.set_version_flag("--version", std::string("wasinn ") + wasinn_version());
  app.require_subcommand(1, 1);
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  app.footer(kExample);
  std::vector<Command> commands;
  for (auto* add : kCommands) commands.push_back(add(app));
  ListOtherPrograms(app);
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return kUsage;
  }
  try {
    app.parse(argc, argv);
    for (const Command& command : commands) {
      if (app.got_subcommand(command.app)) return command.run();
    }
  } catch (const CLI::Success& answered) {  // --help, --version
    return app.exit(answered);
  } catch (const CLI::ParseError& error) {
    return UsageErrorOf(app, error);
  }
  return kUsage;
}

}  // namespace
}  // namespace wasinn::cli

int main(int argc, char** argv) { return wasinn::cli::RunToItsEnd(wasinn::cli::Main, argc, argv); }
