// Compiling, once: what was compiled before comes from the user's cache.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engines/engine.h"
#include "engines/module_cache.h"
#include "engines/wasmtime/handles.h"

namespace wasinn::wasmtime {

class Compiler {
 public:
  // Opens the cache if the options want one, and warns if there is none to use.
  explicit Compiler(const engines::EngineOptions& options);

  // By an engine with the options' settings; `threads` tells the two kinds of engines apart. Any thread.
  engines::Result<ModulePtr> Module(wasm_engine_t* engine, bool threads, const std::string& wasm) const;
  engines::Result<ComponentPtr> Component(wasm_engine_t* engine, const std::string& wasm) const;

 private:
  template <typename Api>
  engines::Result<typename Api::Owner> Compile(wasm_engine_t* engine, const std::string& maker,
                                               const std::string& wasm) const;

  std::unique_ptr<const engines::ModuleCache> cache_;
  std::string maker_;
  std::function<void(const std::string&)> warn_;
};

}  // namespace wasinn::wasmtime
