// Protects the host's files from a guest of the same run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"

namespace wasinn::engines {

// Whether a file or folder is inside of a folder. It compares the objects, not their names: they may have several.
bool IsWithin(const std::string& inner, const std::string& outer);

// The folder in which a guest could change the target of this path, for example by a link on the way. No value: none.
// The file need not exist.
std::optional<std::string> FolderOfGuestsThatHas(const std::string& path, const std::vector<Directory>& folders);

// Checks that a file of native code may run: the operator allows it, and no guest of this run may write the file.
Result<void> MayRunCode(const std::string& path, const EngineOptions& options);

}  // namespace wasinn::engines
