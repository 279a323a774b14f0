// Functions for the text of messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace wasinn::core {

// "a, b, c"
std::string Join(std::span<const std::string> words);

// The hint after an unknown word: "; did you mean 'x'?" with the nearest of the known ones; "" if none is near.
std::string SuggestNear(std::string_view word, std::span<const std::string> known);

// As above; if none is near, it lists the known words.
std::string Suggest(std::string_view word, std::span<const std::string> known);

// A message for a guest or a client: each path of this machine is cut to the file's name, and addresses in quotes are
// left out. A path begins with a name of the root folder, so "/conv1/Conv_output_0", a tensor, stays as it is.
std::string WithoutPaths(std::string_view message);

}  // namespace wasinn::core
