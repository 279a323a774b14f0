// What a flag's value or an operand may be, as shells complete it.
#pragma once

#include <string>
#include <vector>

#include "cli/description.h"

namespace wasinn::cli {

enum class ValueKind {
  kNothing,  // there is no value
  kWords,    // one of a few
  kCommand,  // a command of wasinn
  kFile,
  kFolder,
  kNamedFile,  // NAME=PATH
  kOther,      // a number, a time
};

ValueKind KindOf(const FlagText& flag);

// The words of those that have some; of kCommand all commands.
std::string WordsOf(const FlagText& flag, const std::vector<CommandText>& commands);

// What may follow a command's flags: its operands, or the commands inside of it.
std::vector<FlagText> OperandsOf(const CommandText& command);

// A line about it, without what a shell's quotes would end at.
std::string ShortHelp(const std::string& help);

}  // namespace wasinn::cli
