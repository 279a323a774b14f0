// Which paths are this API's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::serve::openai {

// Whether a target is one of them, if no guest is behind its path. Some paths of llama.cpp's server, which has them without /v1, mean the same here.
bool IsOurs(std::string_view target);
// The words of its path behind /v1. Nothing: it is none, or no path.
std::optional<std::vector<std::string>> WordsBehind(std::string_view target);

}  // namespace wasinn::serve::openai
