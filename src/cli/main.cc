// The wasinn command. Each subcommand is a file of its own and one line in kCommands.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/log.h"

namespace wasinn::cli {
namespace {

constexpr Command (*kCommands[])(CLI::App&) = {AddRunCommand, AddInspectCommand, AddBackendsCommand, AddBenchCommand};

constexpr char kExample[] =
    "Example:\n"
    "  wasinn run --model digits=digits.onnx --dir . classify.wasm photo.png\n\n"
    "`wasinn COMMAND --help` has the flags of a command.";

int UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  const std::vector<std::string> unknown = app.remaining();
  // CLI11 would say that a command is missing.
  const std::string message = commands.empty() && !unknown.empty() ? "unknown command " + unknown[0] : error.what();
  Log(WASINN_LOG_ERROR, message.c_str());
  const std::string command = commands.empty() ? "" : " " + commands[0]->get_name();
  std::fprintf(stderr, "Try 'wasinn%s --help'.\n", command.c_str());
  return kUsage;
}

// What a command printed may still lie in a buffer, and be lost when it is written.
int Flushed(int code) {
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush().good();
  if (written) return code;
  const std::string why = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
  const int failed = Fail("cannot write to standard output" + why);
  return code == 0 ? failed : code;
}

int Main(int argc, char** argv) {
  CLI::App app("Runs WebAssembly programs that use machine-learning models on the host's frameworks, through wasi-nn.",
               "wasinn");
  app.set_version_flag("--version", std::string("wasinn ") + wasinn_version());
  app.require_subcommand(1, 1);
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  app.footer(kExample);
  std::vector<Command> commands;
  for (auto* add : kCommands) commands.push_back(add(app));
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
    return UsageError(app, error);
  }
  return kUsage;
}

}  // namespace
}  // namespace wasinn::cli

// An exception that nobody caught would end the command with the code of a guest's trap.
int main(int argc, char** argv) {
  try {
    return wasinn::cli::Flushed(wasinn::cli::Main(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fputs("wasinn: error: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wasinn: error: %s\n", error.what());
  }
  return wasinn::cli::kFailure;
}
