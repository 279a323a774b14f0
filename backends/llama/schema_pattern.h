// Regular expressions of JSON schemas.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wasinn::llama {

// An equivalent pattern for llama.cpp, which requires ^ at the beginning and $ at the end, does not know \d, \w and \s,
// and copies characters even if JSON must escape them. Classes omit characters that JSON escapes. Empty: no grammar
// exists for the pattern, such as one with a look-ahead.
std::optional<std::string> HeldPattern(std::string_view pattern);

}  // namespace wasinn::llama
