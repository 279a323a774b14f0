// Files of the host's that a guest of the same run may reach.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"

namespace wasinn::engines {

// Whether a file or folder lies in another folder, by what they are and not by their names: they may have several.
bool IsWithin(const std::string& inner, const std::string& outer);

// The folder in which a guest could change what this path stands for, also by a link on the way to it. Nothing: in none. The file
// need not be there.
std::optional<std::string> FolderOfGuestsThatHas(const std::string& path, const std::vector<Directory>& folders);

// Whether the options allow to run a file of native code: the operator says so, and no guest of this run may write it.
Result<void> MayRunCode(const std::string& path, const EngineOptions& options);

}  // namespace wasinn::engines
