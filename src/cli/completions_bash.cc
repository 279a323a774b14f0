#include <fmt/format.h>

#include "cli/completion_values.h"
#include "cli/completions.h"

namespace wasinn::cli {
namespace {

// Bash treats = and : as words, so the text after them is completed separately.
constexpr char kBashBefore[] = R"(# wasinn for bash, written by `wasinn completions bash`.
_wasinn_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_wasinn_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
_wasinn_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$cur")
}

# The flag whose value stands at word $1, in `flag`: "" is none.
_wasinn_flag_before() {
  local at=$(($1 - 1))
  flag=
  while [[ ${COMP_WORDS[at]} == *[=:]* && ${COMP_WORDS[at]} != -* ]]; do at=$((at - 1)); done
  while [[ ${COMP_WORDS[at + 1]} == *[=:]* && ${COMP_WORDS[at]} != -* && $at -gt 1 ]]; do at=$((at - 1)); done
  [[ ${COMP_WORDS[at]} == -* ]] && flag=${COMP_WORDS[at]}
}

# How many words before the last one are operands, in `operands`.
_wasinn_operands() {
  local at
  operands=0
  for ((at = 2; at < COMP_CWORD; at++)); do
    if [[ ${COMP_WORDS[at]} == -* ]]; then
      [[ " $valued " == *" ${COMP_WORDS[at]} "* ]] || continue
      [[ ${COMP_WORDS[at + 1]} == "=" ]] && at=$((at + 1))
      at=$((at + 1))
      while [[ ${COMP_WORDS[at + 1]} == *[=:]* ]]; do at=$((at + 2)); done
    else
      operands=$((operands + 1))
    fi
  done
}

_wasinn() {
  local cur=${COMP_WORDS[COMP_CWORD]} flag operands flags valued ends
  [[ $cur == "=" || $cur == *: ]] && cur=
)";

constexpr char kBashAfter[] = R"(  if [[ $cur == -* ]]; then _wasinn_words "$flags"; else _wasinn_operand; fi
}
complete -F _wasinn wasinn
)";

std::string BashAction(const FlagText& flag, const std::vector<CommandText>& commands) {
  switch (KindOf(flag)) {
    case ValueKind::kNothing:
    case ValueKind::kOther:
      return ":";
    case ValueKind::kWords:
    case ValueKind::kCommand:
      return fmt::format("_wasinn_words '{}'", WordsOf(flag, commands));
    case ValueKind::kFolder:
      return "_wasinn_folders";
    case ValueKind::kFile:
    case ValueKind::kNamedFile:
      break;
  }
  return "_wasinn_files";
}

// The entry of a command in `_wasinn`: its flags, and those with a value.
std::string BashFlags(const CommandText& command) {
  std::string all, valued;
  for (const FlagText& flag : command.flags) {
    for (const std::string& name : flag.names) {
      all += " " + name;
      if (!flag.value.empty()) valued += " " + name;
    }
  }
  return fmt::format("    {}) flags='{}' valued='{}' ends='{}' ;;\n", command.name, all.substr(1), valued,
                     command.ends_with_operand ? 1 : 0);
}

std::string BashValues(const std::vector<CommandText>& commands) {
  std::string text;
  for (const CommandText& command : commands) {
    for (const FlagText& flag : command.flags) {
      if (flag.value.empty()) continue;
      std::string pattern;
      for (const std::string& name : flag.names) pattern += (pattern.empty() ? "" : "|") + command.name + ":" + name;
      text += fmt::format("    {}) {} ;;\n", pattern, BashAction(flag, commands));
    }
  }
  return text;
}

std::string BashOperands(const std::vector<CommandText>& commands) {
  std::string text;
  for (const CommandText& command : commands) {
    for (const FlagText& operand : OperandsOf(command)) {
      const std::string action = BashAction(operand, commands);
      if (action != "_wasinn_files") text += fmt::format("    {}) {} ;;\n", command.name, action);
    }
  }
  return "_wasinn_operand() {\n  case ${COMP_WORDS[1]} in\n" + text + "    *) _wasinn_files ;;\n  esac\n}\n\n";
}

}  // namespace

std::string BashCompletions(const std::vector<CommandText>& commands) {
  std::string names, flags;
  for (const CommandText& command : commands) {
    names += command.name + " ";
    flags += BashFlags(command);
  }
  std::string script = kBashBefore;
  script.insert(script.rfind("_wasinn() {"), BashOperands(commands));
  script +=
      fmt::format("  if ((COMP_CWORD == 1)); then\n    _wasinn_words '{}--help --version'\n    return\n  fi\n", names);
  script += "  case ${COMP_WORDS[1]} in\n" + flags + "    *) return ;;\n  esac\n";
  script +=
      "  _wasinn_operands\n"
      "  if [[ $ends == 1 && $operands -gt 0 ]]; then\n    _wasinn_files\n    return\n  fi\n"
      "  _wasinn_flag_before \"$COMP_CWORD\"\n";
  script += "  case ${COMP_WORDS[1]}:$flag in\n" + BashValues(commands);
  script += "    *) flag= ;;\n  esac\n  [[ -n $flag ]] && return\n";
  return script + kBashAfter;
}

}  // namespace wasinn::cli
