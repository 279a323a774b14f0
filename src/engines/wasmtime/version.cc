#include <wasmtime.h>

#include "engines/engine.h"
#include "engines/loaded_from.h"
#include "engines/wasmtime/handler_abi.h"

namespace wasinn::engines {

EngineVersion WasmtimeVersion() {
  return {WASMTIME_VERSION, LoadedFrom(reinterpret_cast<const void*>(&wasm_engine_new_with_config))};
}

bool WasmtimeRunsComponents() { return wasinn_component_handle != nullptr; }

}  // namespace wasinn::engines
