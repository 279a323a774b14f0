// The possible values of flags and operands, for completion by shells.
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
  kOther,      // something else: a number, a time
};

ValueKind KindOf(const FlagText& flag);

// The words of a kind that has some; for kCommand all commands.
std::string WordsOf(const FlagText& flag, const std::vector<CommandText>& commands);

// The words after a command's flags: its operands, or its subcommands.
std::vector<FlagText> OperandsOf(const CommandText& command);

// A line about it, without characters that would end a shell's quotes.
std::string ShortHelp(const std::string& help);

}  // namespace wasinn::cli
