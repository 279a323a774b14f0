#include <vector>

#include "abi/witx/witx.h"

namespace wasinn::abi {

std::span<const wasinn_function> AllFunctions() {
  static const std::vector<wasinn_function> all = [] {
    std::vector<wasinn_function> rows;
    for (const auto part : {WitxFunctions(), WasmEdgeFunctions(), ExtensionFunctions(), LegacyFunctions()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
  return all;
}

}  // namespace wasinn::abi
