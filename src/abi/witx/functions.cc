#include <vector>

#include "abi/witx/witx.h"

namespace wasinn::abi {

std::span<const wasinn_function* const> AllFunctions() {
  static const std::vector<const wasinn_function*> all = [] {
    std::vector<const wasinn_function*> rows;
    for (const auto part : {WitxFunctions(), WasmEdgeFunctions(), ExtensionFunctions(), LegacyFunctions()}) {
      for (const wasinn_function& row : part) rows.push_back(&row);
    }
    return rows;
  }();
  return all;
}

}  // namespace wasinn::abi
