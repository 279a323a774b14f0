// Which paths are this API's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::serve::openai {

// Whether a target (target.h) is one of them, if no guest is behind its path.
bool IsOurs(std::string_view target);
// A target of llama.cpp's server, which has some paths without /v1, as it is here: under /v1. Nothing: it is none of these.
std::optional<std::string> UnderV1(std::string_view target);
// The words of a target's path behind /v1. None if it is not ours.
std::vector<std::string> WordsBehind(std::string_view target);

}  // namespace wasinn::serve::openai
