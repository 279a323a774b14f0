// The folders and environment variables that flags and files give to a guest.
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

// HOST[::GUEST][:rw], for guests that answer any client: without :rw they only read there. HOST is relative to `base`;
// "": to the working folder.
settings::Parsed<engines::Directory> ParseServedDirectory(const std::string& text,
                                                          const std::filesystem::path& base = {});

// NAME=VALUE, or NAME for the value in this program's environment.
settings::Parsed<Variable> ParseEnvironment(const std::string& text);

}  // namespace wasinn::cli
