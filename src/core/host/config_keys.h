// The table of configuration keys, and the check of a table against it.
#pragma once

#include <toml++/toml.h>
#include <filesystem>

#include "core/status.h"

namespace wasinn::core {

// Checks every key, and the type, range and word of its value. Makes relative paths absolute from `folder`. An unknown
// key is an error that names the nearest known key. The keys of [backends.NAME] and [models.NAME.config] are checked
// when that backend is opened.
Status CheckKeys(toml::table& values, const std::filesystem::path& folder);

// Merges `from` into `into`: tables are merged, other values replaced.
void MergeTables(toml::table& into, const toml::table& from);

}  // namespace wasinn::core
