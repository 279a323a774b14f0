// The wasinn command. Each subcommand is a file of its own and one line in kCommands.
#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/contract.h"
#include "cli/command.h"
#include "cli/ending.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/log.h"
#include "cli/other_programs.h"
#include "engines/engine.h"

namespace wasinn::cli {
namespace {

constexpr Command (*kCommands[])(CLI::App&) = {AddDemoCommand,         AddNewCommand,         AddRunCommand,
                                               AddCompileCommand,      AddInspectCommand,     AddModelsCommand,
                                               AddCheckCommand,        AddBackendsCommand,    AddDoctorCommand,
                                               AddCheckBackendCommand, AddCompletionsCommand, AddHelpCommand};

constexpr char kExample[] =
    "Examples:\n"
    "  wasinn demo\n"
    "  wasinn run --model digits=digits.onnx --dir . classify.wasm photo.png\n\n"
    "`wasinn help COMMAND` has the flags of a command.";

// The loaded libraries, in lines.
std::string Versions() {
  std::string text = std::string("wasinn ") + wasinn_version();
  const auto add = [&text](const char* name, const engines::EngineVersion& engine) {
    if (engine.version.empty()) return;
    text += std::string("\n") + name + " " + engine.version;
    if (!engine.library.empty()) text += " (" + engine.library + ")";
  };
  add("Wasmtime", engines::WasmtimeVersion());
  add("WAMR", engines::WamrVersion());
  return text + "\nbackend API " + std::to_string(WASINN_BACKEND_ABI_MAJOR) + "." +
         std::to_string(WASINN_BACKEND_ABI_MINOR);
}

int UsageErrorOf(const CLI::App& app, const CLI::ParseError& error, char** words) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  if (!commands.empty()) {
    return UsageError("wasinn " + commands[0]->get_name(), WhatIsWrong(*commands[0], error, words));
  }
  const std::vector<std::string> unknown = app.remaining();
  // CLI11 would report that a command is missing.
  const bool is_command = !unknown.empty() && !unknown[0].starts_with('-');
  return UsageError("wasinn", is_command ? UnknownCommand(app, unknown[0]) : WhatIsWrong(app, error, words));
}

}  // namespace

int Program(int argc, char** argv) {
  if (const std::optional<int> code = StartOtherProgram(argv + 1)) return *code;
  CLI::App app("Runs WebAssembly programs that use machine-learning models on the host's frameworks, through wasi-nn.",
               "wasinn");
  app.set_version_flag("--version", Versions);
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
    return UsageErrorOf(app, error, argv);
  }
  return kUsage;
}

}  // namespace wasinn::cli
