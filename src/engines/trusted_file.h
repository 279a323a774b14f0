// Files of native code, which whoever may write them brings into this process.
#pragma once

#include <string>

#include "engines/engine.h"

namespace wasinn::engines {

// Whether a file or folder lies in another folder, by what they are and not by their names: they may have several.
bool IsWithin(const std::string& inner, const std::string& outer);

// Whether the options allow to run a file of native code: the operator says so, and no guest of this run may write it.
Result<void> MayRunCode(const std::string& path, const EngineOptions& options);

}  // namespace wasinn::engines
