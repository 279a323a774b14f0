#include "engines/wasmtime/threaded_program.h"

#include <wasinn/wasmtime.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/exports.h"
#include "engines/wasmtime/guest_threads.h"
#include "engines/wasmtime/new_engine.h"
#include "engines/wasmtime/wasi.h"

namespace wasinn::wasmtime {
namespace {

using engines::Exit;
using engines::Result;
using engines::RunOptions;

constexpr std::string_view kSpawnModule = "wasi";
constexpr std::string_view kSpawn = "thread-spawn";

GuestThreads* ThreadsOf(wasmtime_context_t* context) {
  return static_cast<GuestThreads*>(wasmtime_context_get_data(context));
}

wasinn_wasmtime_caller ThreadOf(wasmtime_context_t* context, void*) { return ThreadsOf(context)->caller(); }

wasm_trap_t* Spawn(void*, wasmtime_caller_t* caller, wasmtime_val_raw_t* values, size_t) {
  values[0].i64 = static_cast<uint32_t>(ThreadsOf(wasmtime_caller_context(caller))->Spawn(values[0].i32));
  return nullptr;
}

std::string_view View(const wasm_name_t* name) { return {name->data, name->size}; }

// The imports of a module, during a scope.
class Imports {
 public:
  explicit Imports(const wasmtime_module_t* module) { wasmtime_module_imports(module, &all_); }
  ~Imports() { wasm_importtype_vec_delete(&all_); }
  Imports(const Imports&) = delete;
  Imports& operator=(const Imports&) = delete;

  std::span<wasm_importtype_t* const> all() const { return {all_.data, all_.size}; }

 private:
  wasm_importtype_vec_t all_;
};

bool IsSpawn(const wasm_importtype_t* item) {
  return View(wasm_importtype_module(item)) == kSpawnModule && View(wasm_importtype_name(item)) == kSpawn;
}

// NULL if it is none.
const wasm_memorytype_t* SharedMemoryType(const wasm_importtype_t* item) {
  const wasm_memorytype_t* type = wasm_externtype_as_memorytype_const(wasm_importtype_type(item));
  return type != nullptr && wasmtime_memorytype_isshared(type) ? type : nullptr;
}

Result<const wasm_importtype_t*> FindMemory(const Imports& imports) {
  const wasm_importtype_t* found = nullptr;
  for (const wasm_importtype_t* item : imports.all()) {
    if (SharedMemoryType(item) == nullptr) continue;
    if (found != nullptr) return std::unexpected("the module imports more than one shared memory");
    found = item;
  }
  if (found == nullptr) {
    return std::unexpected("the module imports wasi::thread-spawn but no shared memory, which its threads would share");
  }
  if (wasmtime_memorytype_is64(SharedMemoryType(found))) {
    return std::unexpected("the module imports a shared memory with 64-bit addresses; wasi-threads has 32");
  }
  return found;
}

// Prepares one run of a module: a memory, and its imports linked with it.
Result<ThreadedModule> Prepare(const EnginePtr& engine, const LinkerPtr& linker, const ModulePtr& module) {
  const Imports imports(module.get());
  const Result<const wasm_importtype_t*> import = FindMemory(imports);
  if (!import) return std::unexpected(import.error());
  wasmtime_sharedmemory_t* made = nullptr;
  auto memory = TakeError(wasmtime_sharedmemory_new(engine.get(), SharedMemoryType(*import), &made));
  if (!memory) return std::unexpected(memory.error());
  ThreadedModule result{EnginePtr(wasmtime_engine_clone(engine.get())), nullptr, SharedMemoryPtr(made)};

  const LinkerPtr with_memory(wasmtime_linker_clone(linker.get()));
  const StorePtr any_store(wasmtime_store_new(engine.get(), nullptr, nullptr));
  const std::string_view place = View(wasm_importtype_module(*import)), name = View(wasm_importtype_name(*import));
  wasmtime_extern_t item;
  item.kind = WASMTIME_EXTERN_SHAREDMEMORY;
  item.of.sharedmemory = made;
  auto linked = TakeError(wasmtime_linker_define(with_memory.get(), wasmtime_store_context(any_store.get()),
                                                 place.data(), place.size(), name.data(), name.size(), &item));
  if (!linked) return std::unexpected(linked.error());
  wasmtime_instance_pre_t* instance_pre = nullptr;
  linked = TakeError(wasmtime_linker_instantiate_pre(with_memory.get(), module.get(), &instance_pre));
  if (!linked) return std::unexpected(linked.error());
  result.instance_pre.reset(instance_pre);
  return result;
}

class ThreadedProgram final : public engines::Program {
 public:
  ThreadedProgram(EnginePtr engine, LinkerPtr linker, ModulePtr module, std::vector<engines::MemoryType> memories)
      : engine_(std::move(engine)),
        linker_(std::move(linker)),
        module_(std::move(module)),
        code_{.memories = std::move(memories)} {}

  Exit Run(const RunOptions& options) const override {
    if (auto kept = CanKeep(options); !kept) return Exit::Failed(kept.error());
    const Result<StoreLimits> limits = StoreLimits::New(code_, options, uint64_t{options.max_threads} + 1);
    if (!limits) return Exit::Failed(limits.error());
    Result<ThreadedModule> ready = Prepare(engine_, linker_, module_);
    if (!ready) return Exit::Failed(ready.error());
    return std::make_shared<GuestThreads>(std::move(*ready), *limits, options)->Run();
  }

 private:
  // Each thread has a store, with its unshared objects.
  Result<void> CanKeep(const RunOptions& options) const {
    if (options.max_fuel != 0) return std::unexpected("fuel cannot be limited for a program with threads");
    if (options.max_memory_bytes == UINT64_MAX || code_.memories.size() <= 1) return {};
    return std::unexpected("a limit of memory is for programs with threads that have one memory, which is shared");
  }

  EnginePtr engine_;
  LinkerPtr linker_;
  ModulePtr module_;
  LimitedCode code_;
};

}  // namespace

bool UsesThreads(const wasmtime_module_t* module) {
  const Imports imports(module);
  return std::ranges::any_of(
      imports.all(), [](const wasm_importtype_t* item) { return IsSpawn(item) || SharedMemoryType(item) != nullptr; });
}

ThreadsEngine::ThreadsEngine(EnginePtr engine)
    : engine_(std::move(engine)), linker_(wasmtime_linker_new(engine_.get())) {}

Result<std::unique_ptr<ThreadsEngine>> ThreadsEngine::New(const engines::EngineOptions& options) {
  Result<EnginePtr> made = NewEngine(ForThreads(options));
  if (!made) return std::unexpected(made.error());
  std::unique_ptr<ThreadsEngine> engine(new ThreadsEngine(std::move(*made)));
  if (Result<void> defined = engine->Define(); !defined) return std::unexpected(defined.error());
  return engine;
}

Result<void> ThreadsEngine::Define() {
  if (Result<void> wasi = TakeError(wasmtime_linker_define_wasi(linker_.get())); !wasi) return wasi;
  if (Result<void> started = StartWasi(engine_.get(), linker_.get()); !started) return started;
  if (Result<void> nn = TakeStatus(wasinn_wasmtime_link_callers(linker_.get(), nullptr, ThreadOf, nullptr)); !nn) {
    return nn;
  }
  wasm_functype_t* type = wasm_functype_new_1_1(wasm_valtype_new(WASM_I32), wasm_valtype_new(WASM_I32));
  wasmtime_error_t* error =
      wasmtime_linker_define_func_unchecked(linker_.get(), kSpawnModule.data(), kSpawnModule.size(), kSpawn.data(),
                                            kSpawn.size(), type, Spawn, nullptr, nullptr);
  wasm_functype_delete(type);
  return TakeError(error);
}

Result<std::unique_ptr<engines::Program>> ThreadsEngine::Link(ModulePtr module,
                                                              std::vector<engines::MemoryType> memories) const {
  const Imports imports(module.get());
  if (std::ranges::any_of(imports.all(), IsSpawn) &&
      !ExportsFunction(engine_.get(), module.get(), kThreadStart, {WASM_I32, WASM_I32})) {
    return std::unexpected(
        "the module imports wasi::thread-spawn but exports no function wasi_thread_start of two i32, which its threads "
        "would run");
  }
  if (auto ready = Prepare(engine_, linker_, module); !ready) return std::unexpected(ready.error());
  return std::make_unique<ThreadedProgram>(EnginePtr(wasmtime_engine_clone(engine_.get())),
                                           LinkerPtr(wasmtime_linker_clone(linker_.get())), std::move(module),
                                           std::move(memories));
}

}  // namespace wasinn::wasmtime
