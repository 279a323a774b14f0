// The engine of the benchmarks that run components.
#pragma once

#include "engines/wasmtime/handles.h"

namespace wasinn::bench {

// With asynchronous functions or without, as for components of WASI 0.3 and 0.2 in `wasinn run`.
inline wasmtime::EnginePtr NewComponentEngine(bool is_async) {
  wasm_config_t* config = wasm_config_new();
#ifdef WASMTIME_FEATURE_COMPONENT_MODEL_ASYNC
  wasmtime_config_concurrency_support_set(config, is_async);
#endif
  return wasmtime::EnginePtr(wasm_engine_new_with_config(config));
}

}  // namespace wasinn::bench
