// The Wasmtime engine of the wasinn command, over Wasmtime's C API; and programs that are core modules.
#include <wasinn/wasmtime.h>

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "engines/engine.h"
#include "engines/guest_run.h"
#include "engines/invoked_numbers.h"
#include "engines/memories.h"
#include "engines/not_served.h"
#include "engines/trusted_file.h"
#include "engines/wasm_file.h"
#include "engines/wasm_sections.h"
#include "engines/wasmtime/compile.h"
#include "engines/wasmtime/compile_apart.h"
#include "engines/wasmtime/component_handler.h"
#include "engines/wasmtime/component_run.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/exports.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/invoke.h"
#include "engines/wasmtime/new_engine.h"
#include "engines/wasmtime/poll.h"
#include "engines/wasmtime/precompiled.h"
#include "engines/wasmtime/store_run.h"
#include "engines/wasmtime/threaded_program.h"
#include "engines/wasmtime/wasi.h"

namespace wasinn::wasmtime {
namespace {

using engines::EngineOptions;
using engines::Exit;
using engines::Result;
using engines::RunOptions;

// One pre-linked module serves every guest, so a guest's own data travels with the store.
struct OfStore {
  wasinn_wasmtime_caller caller;
  const engines::GuestRun& run;
};

const OfStore& DataOf(wasmtime_context_t* context) {
  return *static_cast<const OfStore*>(wasmtime_context_get_data(context));
}
wasinn_wasmtime_caller CallerOf(wasmtime_context_t* context, void*) { return DataOf(context).caller; }
const engines::GuestRun& RunOf(wasmtime_context_t* context) { return DataOf(context).run; }

class ModuleProgram final : public engines::Program {
 public:
  ModuleProgram(EnginePtr engine, InstancePrePtr instance_pre, LimitedCode code, std::string invoke)
      : engine_(std::move(engine)),
        instance_pre_(std::move(instance_pre)),
        code_(std::move(code)),
        invoke_(std::move(invoke)) {}

  size_t memories() const override { return code_.memories.size(); }
  Exit Run(const RunOptions& options) const override {
    return RunInStore(engine_, code_, options, [&](wasmtime_context_t* context, const engines::GuestRun& run) {
      OfStore data{{options.guest, nullptr}, run};  // for calls of the guest, which end here
      wasmtime_context_set_data(context, &data);
      return RunIn(context, options, &data.caller);
    });
  }

 private:
  Exit RunIn(wasmtime_context_t* context, const RunOptions& options, wasinn_wasmtime_caller* caller) const {
    if (Result<void> wasi = SetWasi(context, options); !wasi) return Exit::Failed(wasi.error());
    wasinn_wasmtime_component_set_up(context, options.guest);  // its guard also holds for large calls of WASI here
    wasmtime_instance_t instance;
    wasm_trap_t* trap = nullptr;
    wasmtime_error_t* error = wasmtime_instance_pre_instantiate(instance_pre_.get(), context, &instance, &trap);
    if (error != nullptr || trap != nullptr) return ToExit(error, trap);
    // The store has only this instance, so a caller's memory is known.
    wasmtime_extern_t memory;
    if (wasmtime_instance_export_get(context, &instance, kMemory, sizeof kMemory - 1, &memory)) {
      if (memory.kind == WASMTIME_EXTERN_MEMORY) {
        caller->memory = &memory;  // an index into the store: nothing to release
      } else {
        wasmtime_extern_delete(&memory);
      }
    }
    if (!invoke_.empty()) {
      Exit exit = Invoke(context, instance, invoke_, std::span(options.args).subspan(1));
      caller->memory = nullptr;  // it belonged to this frame
      return exit;
    }
    wasmtime_extern_t start;
    wasmtime_instance_export_get(context, &instance, kStart, sizeof kStart - 1, &start);  // Load has checked it
    error = wasmtime_func_call(context, &start.of.func, nullptr, 0, nullptr, 0, &trap);
    caller->memory = nullptr;  // it belonged to this frame
    return ToExit(error, trap);
  }

  EnginePtr engine_;
  InstancePrePtr instance_pre_;
  LimitedCode code_;
  const std::string invoke_;  // "": the program
};

class WasmtimeEngine final : public engines::Engine {
 public:
  static Result<std::unique_ptr<WasmtimeEngine>> New(const EngineOptions& options) {
    Result<EnginePtr> made = NewEngine(options);
    if (!made) return std::unexpected(made.error());
    std::unique_ptr<WasmtimeEngine> engine(new WasmtimeEngine(options, std::move(*made)));
    if (Result<void> defined = engine->Define(); !defined) return std::unexpected(defined.error());
    return engine;
  }

  Result<std::unique_ptr<engines::Program>> Load(const std::string& path) const override {
    Result<engines::WasmFile> file = engines::ReadWasmFile(path);
    if (!file) return std::unexpected(file.error());
    Result<void> may;
    if (file->kind == engines::WasmKind::kWasmtimeCode) may = engines::MayRunCode(path, options_);
    auto program = !may                                             ? std::unexpected(may.error())
                   : file->kind == engines::WasmKind::kWasmtimeCode ? LoadCode(file->bytes)
                                                                    : LoadWasm(std::move(*file), nullptr);
    if (!program) return std::unexpected(path + ": " + program.error());
    return program;
  }  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it does not see that an error is no program

  Result<std::string> Compile(const std::string& path) const override {
    Result<engines::WasmFile> file = engines::ReadWasmFile(path);
    if (!file) return std::unexpected(file.error());
    if (file->kind == engines::WasmKind::kWasmtimeCode) return std::unexpected(path + " is compiled already");
    std::string compiled;
    auto program = LoadWasm(std::move(*file), &compiled);  // reports a program that would not run
    if (!program) return std::unexpected(path + ": " + program.error());
    return compiled;
  }

 private:
  WasmtimeEngine(const EngineOptions& options, EnginePtr engine)
      : options_(options),
        engine_(std::move(engine)),
        linker_(wasmtime_linker_new(engine_.get())),
        compiler_(options) {}

  // Defines the linker's contents: WASI and wasi-nn.
  Result<void> Define() {
    if (Result<void> wasi = TakeError(wasmtime_linker_define_wasi(linker_.get())); !wasi) return wasi;
    if (options_.served) {
      if (Result<void> poll = DefinePoll(linker_.get(), RunOf); !poll) return poll;
    }
    return TakeStatus(wasinn_wasmtime_link_callers(linker_.get(), nullptr, CallerOf, nullptr));
  }

  // `file` gets the result of Compile, if it is wanted.
  Result<std::unique_ptr<engines::Program>> LoadWasm(engines::WasmFile source, std::string* file) const {
    if (source.kind == engines::WasmKind::kText) {
      Result<std::string> wasm = engines::ParseText(source.bytes, options_.compile);
      if (!wasm) return std::unexpected(wasm.error());
      source.bytes = std::move(*wasm);
      source.kind = engines::KindOf(source.bytes);
    }
    if (source.kind == engines::WasmKind::kWamrAot) {
      return std::unexpected("WAMR's compiler made this: only --engine wamr runs it");
    }
    // Compiling may take long.
    if (auto why = engines::FirstNotServed(source.bytes, {.http = options_.served || options_.http, .wasi03 = true}))
      return std::unexpected(*why);
    std::vector<engines::MemoryType> memories = engines::MemoriesOf(source.bytes);
    if (Result<void> may = CheckMemories(memories); !may) return std::unexpected(may.error());
    if (options_.invoke.empty()) {
      if (auto program = engines::StartAsExport(source.bytes)) source.bytes = std::move(*program);
    }
    if (source.kind != engines::WasmKind::kComponent) return LoadModule(source, std::move(memories), file);
    const ProgramKind kind = engines::UsesWasi03(source.bytes) ? ProgramKind::kAsyncComponent : ProgramKind::kComponent;
    const auto compile = [&](wasm_engine_t* engine) -> Result<ComponentPtr> {
      Result<ComponentPtr> component = compiler_.Component(engine, kind, source);
      if (!component || file == nullptr) return component;
      if (auto written = WriteTo(file, kind, memories, CodeOf(*component)); !written) {
        return std::unexpected(written.error());
      }
      return component;
    };
    return LinkComponent(
        kind, compile,
        {memories, options_.metered, engines::LargestInstance(source.bytes), engines::TablesOf(source.bytes)});
  }

  Result<std::unique_ptr<engines::Program>> LinkComponent(
      ProgramKind kind, const std::function<Result<ComponentPtr>(wasm_engine_t*)>& compile, LimitedCode code) const {
    const Result<wasm_engine_t*> engine = EngineFor(kind);
    if (!engine) return std::unexpected(engine.error());
    const auto compile_here = [&] { return compile(*engine); };
    return options_.served ? LoadHandler(*engine, kind, compile_here, std::move(code))
                           : LoadComponent(*engine, kind, options_, compile_here, std::move(code));
  }

  Result<void> CheckMemories(const std::vector<engines::MemoryType>& memories) const {
    return options_.served ? engines::CheckNoneIsShared(memories) : Result<void>();
  }

  Result<std::unique_ptr<engines::Program>> LoadModule(const engines::WasmFile& source,
                                                       std::vector<engines::MemoryType> memories,
                                                       std::string* file) const {
    // The imports of the compiled module decide between the engines; the bytes are a guess that is almost never wrong.
    const bool guess = source.bytes.contains("thread-spawn");
    Result<ModulePtr> module = CompileFor(guess, source);
    if (!module) return std::unexpected(module.error());
    if (auto program = CheckProgram(module->get()); !program) return std::unexpected(program.error());
    const bool threads = UsesThreads(module->get());
    if (threads != guess) module = CompileFor(threads, source);
    if (!module) return std::unexpected(module.error());
    if (file != nullptr) {
      if (threads && options_.metered) return std::unexpected("fuel cannot be limited for a program with threads");
      const ProgramKind kind = threads ? ProgramKind::kThreads : ProgramKind::kModule;
      if (auto written = WriteTo(file, kind, memories, CodeOf(*module)); !written) {
        return std::unexpected(written.error());
      }
    }
    return Link(std::move(*module), threads, std::move(memories), engines::TablesOf(source.bytes));
  }

  Result<void> WriteTo(std::string* file, ProgramKind kind, const std::vector<engines::MemoryType>& memories,
                       const Result<std::string>& code) const {
    if (!code) return std::unexpected(code.error());
    *file = WritePrecompiled({kind, options_.interruptible, options_.metered, memories, *code});
    return {};
  }

  Result<std::unique_ptr<engines::Program>> LoadCode(std::string_view file) const {
    const Result<Precompiled> code = ReadPrecompiled(file);
    if (!code) return std::unexpected(code.error());
    const bool threads = code->kind == ProgramKind::kThreads;
    if (threads || (code->interruptible == options_.interruptible && code->metered == options_.metered)) {
      return LinkCode(*code);
    }
    if (options_.interruptible && !code->interruptible) {
      return std::unexpected("it was compiled without --interruptible, so that --timeout could not end it");
    }
    if (options_.metered && !code->metered) {
      return std::unexpected("it was compiled without --metered, so that --fuel could not limit it");
    }
    // Code that could have more limits than these options set.
    EngineOptions as_compiled = options_;
    as_compiled.interruptible = code->interruptible;
    as_compiled.metered = code->metered;
    as_compiled.cache = false;
    const auto engine = New(as_compiled);
    if (!engine) return std::unexpected(engine.error());
    return (*engine)->LinkCode(*code);
  }

  Result<std::unique_ptr<engines::Program>> LinkCode(const Precompiled& code) const {
    if (Result<void> may = CheckMemories(code.memories); !may) return std::unexpected(may.error());
    if (code.kind == ProgramKind::kComponent || code.kind == ProgramKind::kAsyncComponent) {
      const auto read = [&](wasm_engine_t* engine) { return ReadComponent(engine, code.code); };
      return LinkComponent(code.kind, read, {code.memories, options_.metered});
    }
    const bool threads = code.kind == ProgramKind::kThreads;
    const Result<wasm_engine_t*> engine = EngineFor(code.kind);
    if (!engine) return std::unexpected(engine.error());
    Result<ModulePtr> module = ReadModule(*engine, code.code);
    if (!module) return std::unexpected(module.error());
    if (auto program = CheckProgram(module->get()); !program) return std::unexpected(program.error());
    return Link(std::move(*module), threads, code.memories);
  }

  Result<void> CheckProgram(const wasmtime_module_t* module) const {
    if (!options_.invoke.empty()) {
      if (UsesThreads(module)) return std::unexpected(engines::kInvokedThreads);
      return CheckInvoked(engine_.get(), module, options_.invoke);
    }
    if (ExportsFunction(engine_.get(), module, kStart, {})) return {};
    return std::unexpected(
        "the module exports no function _start and has no start section, so it is a library and not a program");
  }

  Result<ModulePtr> CompileFor(bool threads, const engines::WasmFile& source) const {
    const Result<wasm_engine_t*> engine = EngineFor(threads ? ProgramKind::kThreads : ProgramKind::kModule);
    return engine ? compiler_.Module(*engine, threads, source) : std::unexpected(engine.error());
  }

  Result<wasm_engine_t*> EngineFor(ProgramKind kind) const {
    if (kind == ProgramKind::kAsyncComponent) return Async();
    if (kind != ProgramKind::kThreads) return engine_.get();
    const Result<const ThreadsEngine*> engine = Threads();
    return engine ? Result<wasm_engine_t*>((*engine)->get()) : std::unexpected(engine.error());
  }

  Result<std::unique_ptr<engines::Program>> Link(ModulePtr module, bool threads,
                                                 std::vector<engines::MemoryType> memories, uint64_t tables = 0) const {
    if (threads) return (*Threads())->Link(std::move(module), std::move(memories));  // it compiled this module
    wasmtime_instance_pre_t* instance_pre = nullptr;
    auto linked = TakeError(wasmtime_linker_instantiate_pre(linker_.get(), module.get(), &instance_pre));
    if (!linked) return std::unexpected(linked.error());
    return std::make_unique<ModuleProgram>(
        EnginePtr(wasmtime_engine_clone(engine_.get())), InstancePrePtr(instance_pre),
        LimitedCode{std::move(memories), options_.metered, 0, tables}, options_.invoke);
  }

  // Made for the first module with threads.
  Result<const ThreadsEngine*> Threads() const {
    if (options_.served) return std::unexpected("the program has threads, which only a command's program may have");
    const std::lock_guard lock(others_mutex_);
    if (threads_ == nullptr) {
      Result<std::unique_ptr<ThreadsEngine>> made = ThreadsEngine::New(options_);
      if (!made) return std::unexpected(made.error());
      threads_ = std::move(*made);
    }
    return threads_.get();
  }

  // Made for the first component of WASI 0.3.
  Result<wasm_engine_t*> Async() const {
    const std::lock_guard lock(others_mutex_);
    if (async_ == nullptr) {
      Result<EnginePtr> made = NewEngine(options_, ProgramKind::kAsyncComponent);
      if (!made) return std::unexpected(made.error());
      async_ = std::move(*made);
    }
    return async_.get();
  }

  const EngineOptions options_;
  EnginePtr engine_;
  LinkerPtr linker_;
  const Compiler compiler_;
  mutable std::mutex others_mutex_;
  mutable std::unique_ptr<const ThreadsEngine> threads_;
  mutable EnginePtr async_;
};

}  // namespace
}  // namespace wasinn::wasmtime

namespace wasinn::engines {

Result<std::string> ParseText(const std::string& text, const CompileLimits& limits) {
  if (limits.Any()) return wasmtime::ParseApart(limits, text);
  wasm_byte_vec_t wasm;
  if (auto parsed = wasmtime::TakeError(wasmtime_wat2wasm(text.data(), text.size(), &wasm)); !parsed) {
    return std::unexpected(parsed.error());
  }
  std::string bytes(wasm.data, wasm.size);
  wasm_byte_vec_delete(&wasm);
  return bytes;
}

Result<std::unique_ptr<Engine>> NewWasmtimeEngine(const EngineOptions& options) {
  return wasmtime::WasmtimeEngine::New(options);
}

}  // namespace wasinn::engines
