// The folders and variables of the environment that flags and files give to a guest.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "engines/engine.h"
#include "settings/model_flags.h"

namespace wasinn::cli {

using Variable = std::pair<std::string, std::string>;

// HOST[::GUEST][:ro]
settings::Parsed<engines::Directory> ParseDirectory(const std::string& text);

// HOST[::GUEST][:rw], of guests that strangers may ask: without :rw, they only read there. HOST is relative to `base`; "": to the
// working folder.
settings::Parsed<engines::Directory> ParseServedDirectory(const std::string& text,
                                                          const std::filesystem::path& base = {});

// NAME=VALUE, or NAME for the value that this program itself got.
settings::Parsed<Variable> ParseEnvironment(const std::string& text);

}  // namespace wasinn::cli
