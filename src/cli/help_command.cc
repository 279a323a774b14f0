// wasinn help and wasinn completions: the texts of the commands, for readers, man(1) and shells.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/completions.h"
#include "cli/description.h"
#include "cli/flags.h"
#include "cli/log.h"
#include "cli/man_page.h"
#include "cli/other_programs.h"

namespace wasinn::cli {
namespace {

struct HelpFlags {
  std::string command;
  bool man = false;
  std::string man_pages;  // a folder; "": none
};

const CLI::App* FindCommand(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return command;
  }
  throw CLI::ValidationError("COMMAND", UnknownCommand(app, name));
}

// A command that is not installed has no flags.
CommandText DescribeCommand(const CLI::App& app, const std::string& name) {
  const CLI::App* const command = FindCommand(app, name);
  CommandText text = Describe(*command, name);
  if (!IsOtherProgram(name)) return text;
  std::optional<CommandText> description = DescribeOtherProgram(name);
  if (!description) return text;
  description->about = text.about;
  description->usage =
      "wasinn " + name + description->usage.substr(std::min(description->usage.find(" ["), description->usage.size()));
  return *description;
}

std::vector<CommandText> DescribeAll(const CLI::App& app) {
  std::vector<CommandText> commands;
  for (const CommandText& command : Describe(app, "").commands) commands.push_back(DescribeCommand(app, command.name));
  return commands;
}

int WritePages(const CLI::App& app, const std::filesystem::path& folder) {
  std::vector<CommandText> commands = DescribeAll(app);
  commands.push_back(Describe(app, ""));
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  for (const CommandText& command : commands) {
    const std::string path = folder / (command.Title() + ".1");
    std::ofstream file(path);
    file << ManPage(command);
    file.close();
    if (!file) return Fail(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  return 0;
}

int Help(const CLI::App& app, const HelpFlags& flags) {
  if (!flags.man_pages.empty()) return WritePages(app, flags.man_pages);
  std::string text;
  if (flags.command.empty()) {
    text = flags.man ? ManPage(Describe(app, ""))
                     : app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
  } else if (flags.man) {
    text = ManPage(DescribeCommand(app, flags.command));
  } else if (IsOtherProgram(flags.command)) {
    std::string command = flags.command, help = "--help";
    char* argv[] = {command.data(), help.data(), nullptr};
    return StartOtherProgram(argv).value_or(kFailure);
  } else {
    text = FindCommand(app, flags.command)->help(app.get_name());
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

int Completions(const CLI::App& app, const std::string& shell) {
  const std::vector<CommandText> commands = DescribeAll(app);
  const std::string script = shell == "bash"  ? BashCompletions(commands)
                             : shell == "zsh" ? ZshCompletions(commands)
                                              : FishCompletions(commands);
  std::fputs(script.c_str(), stdout);
  return 0;
}

}  // namespace

Command AddHelpCommand(CLI::App& app) {
  CLI::App* help = app.add_subcommand("help", "Show the help of a command, as text or as a man page");
  auto flags = std::make_shared<HelpFlags>();
  help->add_option("COMMAND", flags->command, "The command; default: wasinn itself");
  auto* man = help->add_flag("--man", flags->man, "Print a man page");
  help->add_option("--man-pages", flags->man_pages, "Write the man pages of wasinn and of all commands into a folder")
      ->type_name("DIR")
      ->excludes(man);
  help->footer("Examples:\n  wasinn help run\n  wasinn help --man run | man -l -");
  return {help, [&app, flags] { return Help(app, *flags); }};
}

Command AddCompletionsCommand(CLI::App& app) {
  CLI::App* completions =
      app.add_subcommand("completions", "Print the completions of wasinn's command line for a shell");
  auto shell = std::make_shared<std::string>();
  completions->add_option("SHELL", *shell, "The shell")
      ->required()
      ->type_name("bash|zsh|fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  completions->footer(
      "Examples:\n"
      "  wasinn completions bash > ~/.local/share/bash-completion/completions/wasinn\n"
      "  wasinn completions zsh > \"${fpath[1]}/_wasinn\"\n"
      "  wasinn completions fish > ~/.config/fish/completions/wasinn.fish");
  return {completions, [&app, shell] { return Completions(app, *shell); }};
}

}  // namespace wasinn::cli
