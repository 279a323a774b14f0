// Text in the form for the C boundary.
#pragma once

#include <wasinn/wasinn.h>

#include <string_view>

namespace wasinn::wasmtime {

inline wasinn_bytes ToC(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }
inline std::string_view FromC(wasinn_bytes bytes) { return {reinterpret_cast<const char*>(bytes.data), bytes.size}; }

}  // namespace wasinn::wasmtime
