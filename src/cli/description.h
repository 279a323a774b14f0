// A command's flags and texts as data, for other forms than --help.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

namespace wasinn::cli {

struct FlagText {
  std::vector<std::string> names;  // "-o", "--output"; for an operand its one name, "MODEL"
  std::string value;               // the name of its value, "FILE"; "": it has none
  std::string group;               // "Models"; "": an operand
  std::string help;
  std::string variable;  // of the environment; "": none
  bool is_repeated = false;

  // The words of a value "a|b". Empty: any other value.
  std::vector<std::string> Choices() const;
};

struct CommandText {
  std::string name;   // "run"; "" for wasinn itself
  std::string about;  // a line
  std::string usage;  // "wasinn run [OPTIONS] MODULE"
  std::string footer;
  std::vector<FlagText> flags;        // without operands
  std::vector<FlagText> operands;     // in order
  bool ends_with_operand = false;     // words after the first operand do not belong to the command
  std::vector<CommandText> commands;  // subcommands, only with name and about

  std::string Title() const { return name.empty() ? "wasinn" : "wasinn-" + name; }
};

// `name`: the subcommand's, "" for wasinn itself.
CommandText Describe(const CLI::App& app, const std::string& name);

// For sending it from one OS process to another.
std::string ToText(const CommandText& command);
std::optional<CommandText> CommandTextFrom(const std::string& text);

// If this variable of the environment is set, a program answers --help with that text.
inline constexpr char kDescribeVariable[] = "WASINN_DESCRIBE_HELP";

}  // namespace wasinn::cli
