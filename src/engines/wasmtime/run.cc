// The Wasmtime engine of the wasinn command, over Wasmtime's C API; and programs that are core modules.
#include <wasinn/wasmtime.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engines/engine.h"
#include "engines/guest_run.h"
#include "engines/memories.h"
#include "engines/not_served.h"
#include "engines/wasm_file.h"
#include "engines/wasm_sections.h"
#include "engines/wasmtime/compile.h"
#include "engines/wasmtime/component_run.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/exports.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/store_limits.h"
#include "engines/wasmtime/threaded_program.h"
#include "engines/wasmtime/wasi.h"

namespace wasinn::wasmtime {
namespace {

using engines::EngineOptions;
using engines::Exit;
using engines::Result;
using engines::RunOptions;

// One pre-linked module serves every guest, so what is a guest's own travels with the store.
wasinn_wasmtime_caller CallerOf(wasmtime_context_t* context, void*) {
  return *static_cast<const wasinn_wasmtime_caller*>(wasmtime_context_get_data(context));
}

class ModuleProgram final : public engines::Program {
 public:
  ModuleProgram(EnginePtr engine, InstancePrePtr instance_pre, std::vector<engines::MemoryType> memories)
      : engine_(std::move(engine)), instance_pre_(std::move(instance_pre)), memories_(std::move(memories)) {}

  Exit Run(const RunOptions& options) const override {
    const Result<StoreLimits> limits = StoreLimits::New(memories_, options);
    if (!limits) return Exit::Failed(limits.error());
    engines::GuestRun run(options.guest, [this] { wasmtime_engine_increment_epoch(engine_.get()); });
    if (!run.begun()) return Exit::Failed(run.begun().error());
    wasinn_wasmtime_caller caller{options.guest, nullptr};
    const StorePtr store(wasmtime_store_new(engine_.get(), &caller, nullptr));
    limits->Hold(store.get());
    EndWith(store.get(), run);
    const Exit exit = run.End(RunIn(wasmtime_store_context(store.get()), options, &caller));
    if (options.guest != nullptr) wasinn_guest_close(options.guest);  // before the store, which has the memory
    return exit;
  }

 private:
  Exit RunIn(wasmtime_context_t* context, const RunOptions& options, wasinn_wasmtime_caller* caller) const {
    if (Result<void> wasi = SetWasi(context, options); !wasi) return Exit::Failed(wasi.error());
    wasinn_wasmtime_component_set_up(context, options.guest);  // its guard holds for large calls of WASI here, too
    wasmtime_instance_t instance;
    wasm_trap_t* trap = nullptr;
    wasmtime_error_t* error = wasmtime_instance_pre_instantiate(instance_pre_.get(), context, &instance, &trap);
    if (error != nullptr || trap != nullptr) return ToExit(error, trap);
    // The store has this instance alone, so the memory of whoever calls is known.
    wasmtime_extern_t memory;
    if (wasmtime_instance_export_get(context, &instance, kMemory, sizeof kMemory - 1, &memory)) {
      if (memory.kind == WASMTIME_EXTERN_MEMORY) {
        caller->memory = &memory;  // an index into the store: nothing to release
      } else {
        wasmtime_extern_delete(&memory);
      }
    }
    wasmtime_extern_t start;
    wasmtime_instance_export_get(context, &instance, kStart, sizeof kStart - 1, &start);  // Load has seen it
    error = wasmtime_func_call(context, &start.of.func, nullptr, 0, nullptr, 0, &trap);
    caller->memory = nullptr;  // it was this frame's
    return ToExit(error, trap);
  }

  EnginePtr engine_;
  InstancePrePtr instance_pre_;
  std::vector<engines::MemoryType> memories_;
};

// Takes nothing of the options but what configures compilation. The caller owns it.
wasm_config_t* NewConfig(const EngineOptions& options) {
  wasm_config_t* config = wasm_config_new();
  wasmtime_config_wasm_threads_set(config, true);
  wasmtime_config_shared_memory_set(config, true);
  // A quarter of the speed of tight loops each: only where they are wanted. The cache tells such code from other.
  wasmtime_config_epoch_interruption_set(config, options.interruptible);
  wasmtime_config_consume_fuel_set(config, options.metered);
  return config;
}

class WasmtimeEngine final : public engines::Engine {
 public:
  explicit WasmtimeEngine(const EngineOptions& options)
      : engine_(wasm_engine_new_with_config(NewConfig(options))),  // takes the config
        linker_(wasmtime_linker_new(engine_.get())),
        compiler_(options),
        threads_options_(options) {
    threads_options_.metered = false;  // each thread would have fuel of its own
  }

  // The linker's contents: WASI and wasi-nn.
  Result<void> Define() {
    if (Result<void> wasi = TakeError(wasmtime_linker_define_wasi(linker_.get())); !wasi) return wasi;
    return TakeStatus(wasinn_wasmtime_link_callers(linker_.get(), nullptr, CallerOf, nullptr));
  }

  Result<std::unique_ptr<engines::Program>> Load(const std::string& path) const override {
    Result<engines::WasmFile> file = engines::ReadWasmFile(path);
    if (!file) return std::unexpected(file.error());
    auto fail = [&path](const std::string& why) { return std::unexpected(path + ": " + why); };
    if (file->kind == engines::WasmKind::kText) {
      Result<std::string> wasm = engines::ParseText(file->bytes);
      if (!wasm) return fail(wasm.error());
      file->bytes = std::move(*wasm);
      file->kind = engines::KindOf(file->bytes);
    }
    if (file->kind == engines::WasmKind::kWamrAot) return fail("WAMR's compiler made this: only --engine wamr runs it");
    if (const auto why = engines::FirstNotServed(file->bytes)) return fail(*why);  // compiling may take long
    if (auto program = engines::StartAsExport(file->bytes)) file->bytes = std::move(*program);
    auto program = file->kind == engines::WasmKind::kComponent ? LoadComponent(engine_.get(), compiler_, file->bytes)
                                                               : LoadModule(file->bytes);
    if (!program) return fail(program.error());
    return program;
  }  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it does not see that an error is no program

 private:
  Result<std::unique_ptr<engines::Program>> LoadModule(const std::string& wasm) const {
    // Which engine is the right one, the imports of the compiled module tell; its bytes are a guess that is hardly
    // wrong.
    const bool guess = wasm.find("thread-spawn") != wasm.npos;
    Result<ModulePtr> module = CompileFor(guess, wasm);
    if (!module) return std::unexpected(module.error());
    if (!ExportsFunction(module->get(), kStart, {})) {
      return std::unexpected(
          "the module exports no function _start and has no start section, so it is a library and not a program");
    }
    const bool threads = UsesThreads(module->get());
    if (threads != guess) module = CompileFor(threads, wasm);
    if (!module) return std::unexpected(module.error());
    if (!threads) return Link(std::move(*module), wasm);
    return (*Threads())->Link(std::move(*module), engines::MemoriesOf(wasm));  // it is there, for it has compiled this
  }

  Result<ModulePtr> CompileFor(bool threads, const std::string& wasm) const {
    if (!threads) return compiler_.Module(engine_.get(), false, wasm);
    const Result<const ThreadsEngine*> engine = Threads();
    return engine ? compiler_.Module((*engine)->get(), true, wasm) : std::unexpected(engine.error());
  }

  Result<std::unique_ptr<engines::Program>> Link(ModulePtr module, const std::string& wasm) const {
    wasmtime_instance_pre_t* instance_pre = nullptr;
    auto linked = TakeError(wasmtime_linker_instantiate_pre(linker_.get(), module.get(), &instance_pre));
    if (!linked) return std::unexpected(linked.error());
    return std::make_unique<ModuleProgram>(EnginePtr(wasmtime_engine_clone(engine_.get())),
                                           InstancePrePtr(instance_pre), engines::MemoriesOf(wasm));
  }

  // Made when the first module with threads comes.
  Result<const ThreadsEngine*> Threads() const {
    const std::lock_guard lock(threads_mutex_);
    if (threads_ == nullptr) {
      Result<std::unique_ptr<ThreadsEngine>> made = ThreadsEngine::New(NewConfig(threads_options_));
      if (!made) return std::unexpected(made.error());
      threads_ = std::move(*made);
    }
    return threads_.get();
  }

  EnginePtr engine_;
  LinkerPtr linker_;
  const Compiler compiler_;
  EngineOptions threads_options_;
  mutable std::mutex threads_mutex_;
  mutable std::unique_ptr<const ThreadsEngine> threads_;
};

Result<std::unique_ptr<engines::Engine>> NewEngine(const EngineOptions& options) {
  auto engine = std::make_unique<WasmtimeEngine>(options);
  if (Result<void> defined = engine->Define(); !defined) return std::unexpected(defined.error());
  return engine;
}

}  // namespace
}  // namespace wasinn::wasmtime

namespace wasinn::engines {

Result<std::string> ParseText(const std::string& text) {
  wasm_byte_vec_t wasm;
  if (auto parsed = wasmtime::TakeError(wasmtime_wat2wasm(text.data(), text.size(), &wasm)); !parsed) {
    return std::unexpected(parsed.error());
  }
  std::string bytes(wasm.data, wasm.size);
  wasm_byte_vec_delete(&wasm);
  return bytes;
}

Result<std::unique_ptr<Engine>> NewWasmtimeEngine(const EngineOptions& options) { return wasmtime::NewEngine(options); }

}  // namespace wasinn::engines
