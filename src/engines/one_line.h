// An engine's message, which may be a paragraph, as one line.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::engines {

// "a\n\nCaused by:\n    0: b\n    1: c" becomes "a: b: c". Quoted source ("1 | (module") is left out.
std::string OneLine(std::string_view text);

}  // namespace wasinn::engines
