// A command's texts as a page of man(1).
#pragma once

#include <string>

#include "cli/description.h"

namespace wasinn::cli {

// In roff, with the macros of man(7).
std::string ManPage(const CommandText& command);

}  // namespace wasinn::cli
