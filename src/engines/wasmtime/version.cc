#include <wasmtime.h>

#include "engines/engine.h"
#include "engines/loaded_from.h"

namespace wasinn::engines {

EngineVersion WasmtimeVersion() {
  return {WASMTIME_VERSION, LoadedFrom(reinterpret_cast<const void*>(&wasm_engine_new_with_config))};
}

}  // namespace wasinn::engines
