// Describes imports of guests of other hosts that wasinn does not serve.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engines/wasm_sections.h"

namespace wasinn::engines {

// One line; "" for an unknown import, which may be served.
std::string NotServed(const Import& import);

// The first import of a module or component that is not served. HTTP is served for programs that answer requests.
std::optional<std::string> FirstNotServed(std::string_view wasm, bool serves_http);

}  // namespace wasinn::engines
