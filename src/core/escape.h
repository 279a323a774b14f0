// Makes untrusted text safe to print.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::core {

// One line of UTF-8: each byte of a control character or of invalid UTF-8 is written as \xNN.
std::string Escape(std::string_view text);

}  // namespace wasinn::core
