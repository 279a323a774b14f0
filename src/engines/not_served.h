// Imports that guests of other hosts have and that nobody serves here, by what they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engines/wasm_sections.h"

namespace wasinn::engines {

// One line; "" for what is not known, which may be served.
std::string NotServed(const Import& import);

// Of the first import of a module or component that is not served. HTTP is where programs answer requests.
std::optional<std::string> FirstNotServed(std::string_view wasm, bool serves_http);

}  // namespace wasinn::engines
