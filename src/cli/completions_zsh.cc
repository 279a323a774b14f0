#include <fmt/format.h>

#include "cli/completion_values.h"
#include "cli/completions.h"

namespace wasinn::cli {
namespace {

constexpr char kZshBefore[] = R"(#compdef wasinn
# wasinn for zsh, written by `wasinn completions zsh`: a file _wasinn in a folder of $fpath.
_wasinn_named_file() {
  compset -P '*=' && _files
}
)";

std::string ZshAction(const FlagText& flag, const std::vector<CommandText>& commands) {
  switch (KindOf(flag)) {
    case ValueKind::kNothing:
      return "";
    case ValueKind::kWords:
    case ValueKind::kCommand:
      return fmt::format("({})", WordsOf(flag, commands));
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kFolder:
      return "_files -/";
    case ValueKind::kNamedFile:
      return "_wasinn_named_file";
    case ValueKind::kOther:
      break;
  }
  return " ";
}

// A colon in a message would end it.
std::string ZshMessage(std::string text) {
  std::erase_if(text, [](char c) { return c == ':' || c == '\'' || c == '[' || c == ']'; });
  return text;
}

std::string ZshSpec(const FlagText& flag, const std::vector<CommandText>& commands) {
  std::string spec;
  for (const std::string& name : flag.names) {
    const bool is_long = name.starts_with("--");
    const std::string ending = flag.value.empty() ? "" : (is_long ? "=" : "+");
    spec += fmt::format(" \\\n        '{}{}{}[{}]", flag.is_repeated ? "*" : "", name, ending, ShortHelp(flag.help));
    if (!flag.value.empty()) spec += fmt::format(":{}:{}", ZshMessage(flag.value), ZshAction(flag, commands));
    spec += "'";
  }
  return spec;
}

std::string ZshCase(const CommandText& command, const std::vector<CommandText>& commands) {
  std::string specs;
  for (const FlagText& flag : command.flags) specs += ZshSpec(flag, commands);
  for (const FlagText& operand : OperandsOf(command)) {
    specs += fmt::format(" \\\n        '{}:{}:{}'", operand.is_repeated ? "*" : "", ZshMessage(operand.names[0]),
                         ZshAction(operand, commands));
  }
  if (OperandsOf(command).empty()) specs += " \\\n        '*:file:_files'";
  return fmt::format("    {})\n      _arguments {}{}\n      ;;\n", command.name,
                     command.ends_with_operand ? "-A '-*'" : "", specs);
}

}  // namespace

std::string ZshCompletions(const std::vector<CommandText>& commands) {
  std::string list, cases;
  for (const CommandText& command : commands) {
    list += fmt::format("    '{}:{}'\n", command.name, ShortHelp(command.about));
    cases += ZshCase(command, commands);
  }
  return std::string(kZshBefore) + "_wasinn() {\n  local -a commands\n  commands=(\n" + list +
         "  )\n"
         "  if ((CURRENT == 2)); then\n    _describe command commands\n"
         "    _arguments '--help[Print help]' '--version[Print the version]'\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n" +
         cases + "  esac\n}\nif [[ $funcstack[1] == _wasinn ]]; then _wasinn \"$@\"; else compdef _wasinn wasinn; fi\n";
}

}  // namespace wasinn::cli
