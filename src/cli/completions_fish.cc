#include <fmt/format.h>

#include "cli/completion_values.h"
#include "cli/completions.h"

namespace wasinn::cli {
namespace {

constexpr char kFishBefore[] = R"(# wasinn for fish, written by `wasinn completions fish`.
function __wasinn_on
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end
complete -c wasinn -f
)";

std::string FishValue(const FlagText& flag, const std::vector<CommandText>& commands) {
  switch (KindOf(flag)) {
    case ValueKind::kNothing:
      return "";
    case ValueKind::kWords:
    case ValueKind::kCommand:
      return fmt::format(" -x -a '{}'", WordsOf(flag, commands));
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::kFile:
    case ValueKind::kNamedFile:
      return " -r -F";
    case ValueKind::kOther:
      break;
  }
  return " -x";
}

std::string FishFlags(const CommandText& command, const std::vector<CommandText>& commands) {
  std::string text;
  for (const FlagText& flag : command.flags) {
    text += fmt::format("complete -c wasinn -n '__wasinn_on {}'", command.name);
    for (const std::string& name : flag.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    text += fmt::format("{} -d '{}'\n", FishValue(flag, commands), ShortHelp(flag.help));
  }
  return text;
}

std::string FishOperands(const CommandText& command, const std::vector<CommandText>& commands) {
  std::string words;
  for (const FlagText& operand : OperandsOf(command)) words += WordsOf(operand, commands);
  const std::string what = words.empty() ? "-F" : "-a '" + words + "'";
  return fmt::format("complete -c wasinn -n '__wasinn_on {}' {}\n", command.name, what);
}

}  // namespace

std::string FishCompletions(const std::vector<CommandText>& commands) {
  std::string script = kFishBefore;
  constexpr char kFirst[] = "complete -c wasinn -n 'test (count (commandline -opc)) -eq 1'";
  for (const CommandText& command : commands) {
    script += fmt::format("{} -a {} -d '{}'\n", kFirst, command.name, ShortHelp(command.about));
  }
  script += fmt::format("{0} -l help -d 'Print help'\n{0} -l version -d 'Print the version'\n", kFirst);
  for (const CommandText& command : commands) script += FishFlags(command, commands) + FishOperands(command, commands);
  return script;
}

}  // namespace wasinn::cli
