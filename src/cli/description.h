// What a command's flags and texts are, as data: for whatever shows them in another form than --help does.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

namespace wasinn::cli {

struct FlagText {
  std::vector<std::string> names;  // "-o", "--output"; of an operand its one name, "MODEL"
  std::string value;               // what follows the flag, "FILE"; "": nothing does
  std::string group;               // "Models"; "": an operand
  std::string help;
  std::string variable;  // of the environment; "": none
  bool is_repeated = false;

  // Of a value "a|b": its words. Empty: it is something else.
  std::vector<std::string> Choices() const;
};

struct CommandText {
  std::string name;   // "run"; of wasinn itself ""
  std::string about;  // a line
  std::string usage;  // "wasinn run [OPTIONS] MODULE"
  std::string footer;
  std::vector<FlagText> flags;        // without operands
  std::vector<FlagText> operands;     // in their order
  bool ends_with_operand = false;     // what follows the first operand is not the command's
  std::vector<CommandText> commands;  // inside of it; of these only name and about

  std::string Title() const { return name.empty() ? "wasinn" : "wasinn-" + name; }
};

// `name`: that of the subcommand, "" for wasinn itself.
CommandText Describe(const CLI::App& app, const std::string& name);

// For the way from one OS process to another.
std::string ToText(const CommandText& command);
std::optional<CommandText> CommandTextFrom(const std::string& text);

// A program answers --help with that text where this variable of its environment is there.
inline constexpr char kDescribeVariable[] = "WASINN_DESCRIBE_HELP";

}  // namespace wasinn::cli
