// Describes imports of guests of other hosts that wasinn does not serve.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engines/wasm_sections.h"

namespace wasinn::engines {

// The interfaces that a component may use in addition to WASI 0.2 and wasi:nn.
struct Served {
  bool http = false;
  bool wasi03 = false;
};

// One line; "" for an unknown import, which may be served.
std::string NotServed(const Import& import, const Served& served = {});

// Whether a component imports or exports an interface of WASI 0.3.
bool UsesWasi03(std::string_view wasm);

// The first import of a module or component that is not served, or the first such export.
std::optional<std::string> FirstNotServed(std::string_view wasm, const Served& served);

}  // namespace wasinn::engines
