// The table of configuration keys, and the check of a table against it.
#pragma once

#include <toml++/toml.h>
#include <filesystem>

#include "core/status.h"

namespace wasinn::core {

// Checks every key, and the type, range and word of its value, and makes relative paths absolute from `folder`. Unknown
// keys are errors that name the nearest known one. The keys of [backends.NAME] and [models.NAME.config] are checked
// when that backend is opened.
Status CheckKeys(toml::table& values, const std::filesystem::path& folder);

// Adds `from` to `into`: tables merge, everything else is replaced.
void MergeTables(toml::table& into, const toml::table& from);

}  // namespace wasinn::core
