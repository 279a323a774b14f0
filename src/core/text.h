// Words in messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace wasinn::core {

// "a, b, c"
std::string Join(std::span<const std::string> words);

// What to say after an unknown word: "; did you mean 'x'?" with the nearest of the known ones; "" if none is near.
std::string SuggestNear(std::string_view word, std::span<const std::string> known);

// The same, or a list of the known ones if none is near.
std::string Suggest(std::string_view word, std::span<const std::string> known);

}  // namespace wasinn::core
