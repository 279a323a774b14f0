// Regular expressions of JSON schemas.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wasinn::llama {

// The same pattern, for what llama.cpp makes of it: it takes those that begin with ^ and end with $, knows no \d, \w and
// \s, and writes each character as it is, also one that JSON escapes. Characters that JSON escapes are left out where the
// pattern has others. Nothing: a pattern that has no grammar, such as one that looks ahead.
std::optional<std::string> HeldPattern(std::string_view pattern);

}  // namespace wasinn::llama
