#include <fmt/format.h>
#include <wasm_export.h>

#include "engines/engine.h"
#include "engines/loaded_from.h"

namespace wasinn::engines {

EngineVersion WamrVersion() {
  uint32_t major = 0, minor = 0, patch = 0;
  wasm_runtime_get_version(&major, &minor, &patch);
  return {fmt::format("{}.{}.{}", major, minor, patch),
          LoadedFrom(reinterpret_cast<const void*>(&wasm_runtime_get_version))};
}

}  // namespace wasinn::engines
