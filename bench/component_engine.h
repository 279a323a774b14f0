// The engine of the benchmarks that run components.
#pragma once

#include "engines/wasmtime/handles.h"

namespace wasinn::bench {

// Without asynchronous functions, like for components of WASI 0.2 in `wasinn run`.
inline wasmtime::EnginePtr NewComponentEngine() {
  wasm_config_t* config = wasm_config_new();
#ifdef WASMTIME_FEATURE_COMPONENT_MODEL_ASYNC
  wasmtime_config_concurrency_support_set(config, false);
#endif
  return wasmtime::EnginePtr(wasm_engine_new_with_config(config));
}

}  // namespace wasinn::bench
