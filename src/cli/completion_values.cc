#include "cli/completion_values.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace wasinn::cli {

ValueKind KindOf(const FlagText& flag) {
  const bool is_operand = flag.group.empty();
  const std::string& value = is_operand ? flag.names[0] : flag.value;
  if (!flag.Choices().empty()) return ValueKind::kWords;
  if (value.empty()) return ValueKind::kNothing;
  if (value == "COMMAND") return ValueKind::kCommand;
  if (value == "DIR" || value.starts_with("HOST")) return ValueKind::kFolder;
  if (value == "NAME=PATH") return ValueKind::kNamedFile;
  return is_operand || value == "FILE" ? ValueKind::kFile : ValueKind::kOther;
}

std::string WordsOf(const FlagText& flag, const std::vector<CommandText>& commands) {
  std::string words;
  const auto add = [&words](const std::string& word) { words += (words.empty() ? "" : " ") + word; };
  for (const std::string& word : flag.Choices()) add(word);
  if (KindOf(flag) == ValueKind::kCommand) {
    for (const CommandText& command : commands) add(command.name);
  }
  return words;
}

std::vector<FlagText> OperandsOf(const CommandText& command) {
  std::vector<FlagText> operands = command.operands;
  FlagText inner{.names = {"command"}, .value = "", .group = "", .help = "", .variable = ""};
  for (const CommandText& one : command.commands) inner.value += (inner.value.empty() ? "" : "|") + one.name;
  if (!inner.value.empty()) operands.push_back(std::move(inner));
  return operands;
}

std::string ShortHelp(const std::string& help) {
  std::string line = help.substr(0, help.find('\n'));
  const size_t end = line.find_first_of(";:");
  line = line.substr(0, end);
  std::erase_if(line, [](char c) { return std::string_view("'\"`[]\\$").find(c) != std::string_view::npos; });
  while (line.ends_with(',') || line.ends_with('.')) line.pop_back();
  return line;
}

}  // namespace wasinn::cli
