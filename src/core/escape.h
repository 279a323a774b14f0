// Texts of others, as they may be shown.
#pragma once

#include <string>
#include <string_view>

namespace wasinn::core {

// In UTF-8, on one line: of what is a control character or no UTF-8, each byte is written as \xNN.
std::string Escape(std::string_view text);

}  // namespace wasinn::core
