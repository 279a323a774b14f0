// Programs with threads (wasi-threads): modules that import a shared memory, wasi.thread-spawn or both.
#pragma once

#include <memory>
#include <vector>

#include "engines/engine.h"
#include "engines/memories.h"
#include "engines/wasmtime/handles.h"

namespace wasinn::wasmtime {

// Whether a module imports either of the two.
bool UsesThreads(const wasmtime_module_t* module);

// Compiles and links modules with threads. Their code can be interrupted, which costs a check in each loop and
// function, so they have an engine of their own. Thread-safe.
class ThreadsEngine {
 public:
  // Has the settings of ForThreads.
  static engines::Result<std::unique_ptr<ThreadsEngine>> New(const engines::EngineOptions& options);

  wasm_engine_t* get() const { return engine_.get(); }
  // A module of this engine, as a program. Fails if an import cannot be served.
  engines::Result<std::unique_ptr<engines::Program>> Link(ModulePtr module,
                                                          std::vector<engines::MemoryType> memories) const;

 private:
  explicit ThreadsEngine(EnginePtr engine);
  engines::Result<void> Define();

  EnginePtr engine_;
  LinkerPtr linker_;
};

}  // namespace wasinn::wasmtime
