// The paths of this API.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::serve::openai {

// Whether a target (target.h) is one of them, unless a guest has the path.
bool IsOurs(std::string_view target);
// Maps a target of llama.cpp's server, some of which are outside of /v1, to one under /v1. Empty: another target.
std::optional<std::string> UnderV1(std::string_view target);
// The words of a target after /v1. Empty if it is not of this API.
std::vector<std::string> WordsBehind(std::string_view target);

}  // namespace wasinn::serve::openai
