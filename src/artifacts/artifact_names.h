// Checks the names of an artifact's files, which come from others.
#pragma once

#include <string_view>

namespace wasinn::artifacts {

// Whether a relative path leads into its folder, by each of its components: no "..", no absolute path, and no character
// that has a special meaning for a terminal or another system.
bool IsSafePath(std::string_view path);

}  // namespace wasinn::artifacts
