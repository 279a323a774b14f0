// Compiles each program once: the user's cache has earlier results. With limits, another process compiles.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "engines/engine.h"
#include "engines/module_cache.h"
#include "engines/wasm_file.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/precompiled.h"

namespace wasinn::wasmtime {

// Native code of an engine with the same settings. Wasmtime checks its compiler and its target, but not the code
// itself: it must be trusted.
engines::Result<ModulePtr> ReadModule(wasm_engine_t* engine, std::string_view code);
engines::Result<ComponentPtr> ReadComponent(wasm_engine_t* engine, std::string_view code);
engines::Result<std::string> CodeOf(const ModulePtr& module);
engines::Result<std::string> CodeOf(const ComponentPtr& component);

class Compiler {
 public:
  // Opens the cache at the first compile, if the options want one, and warns if there is none.
  explicit Compiler(const engines::EngineOptions& options) : options_(options) {}

  // Compiles by an engine with the options' settings; `threads` and `kind` select the kind of engine. Thread-safe.
  engines::Result<ModulePtr> Module(wasm_engine_t* engine, bool threads, const engines::WasmFile& program) const;
  engines::Result<ComponentPtr> Component(wasm_engine_t* engine, ProgramKind kind,
                                          const engines::WasmFile& program) const;

 private:
  template <typename Api>
  engines::Result<typename Api::Owner> Compile(wasm_engine_t* engine, ProgramKind kind,
                                               const engines::WasmFile& program) const;

  void OpenCache() const;
  std::string Maker(ProgramKind kind) const;
  void Keep(const std::string& maker, const std::string& wasm, const std::string& code) const;

  const engines::EngineOptions options_;
  mutable std::once_flag opened_;
  mutable std::unique_ptr<const engines::ModuleCache> cache_;
};

}  // namespace wasinn::wasmtime
