// Names that somebody else gave the files of an artifact.
#pragma once

#include <string_view>

namespace wasinn::artifacts {

// Whether a path leads into the folder that it is relative to, by each of its components: no "..", no absolute path, nothing that
// a terminal or another system would take for something else.
bool IsSafePath(std::string_view path);

}  // namespace wasinn::artifacts
