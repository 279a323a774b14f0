// Scripts with which shells complete wasinn's command lines.
#pragma once

#include <string>
#include <vector>

#include "cli/description.h"

namespace wasinn::cli {

// `commands`: with all their flags.
std::string BashCompletions(const std::vector<CommandText>& commands);
std::string ZshCompletions(const std::vector<CommandText>& commands);
std::string FishCompletions(const std::vector<CommandText>& commands);

}  // namespace wasinn::cli
