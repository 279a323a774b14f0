// The guest side as a core module on Wasmtime.
#include <wasinn/wasmtime.h>

#include <string_view>
#include <utility>

#include "bench/module_guest.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/handles.h"
#include "engines/wasmtime/new_engine.h"

namespace wasinn::bench {
namespace {

using wasmtime::EnginePtr;
using wasmtime::InstancePrePtr;
using wasmtime::LinkerPtr;
using wasmtime::ModulePtr;
using wasmtime::StorePtr;
using wasmtime::TakeError;

class WasmtimeGuest final : public ModuleGuest {
 public:
  WasmtimeGuest(wasm_engine_t* engine, Guest guest)
      : ModuleGuest(std::move(guest)),
        store_(wasmtime_store_new(engine, &caller_, nullptr)),
        context_(wasmtime_store_context(store_.get())) {}
  ~WasmtimeGuest() override { guest_.Close(); }  // before the store, which has the memory

  Result<void> Start(const wasmtime_instance_pre_t* instance_pre) {
    wasmtime_instance_t instance;
    wasm_trap_t* trap = nullptr;
    wasmtime_error_t* error = wasmtime_instance_pre_instantiate(instance_pre, context_, &instance, &trap);
    if (error != nullptr || trap != nullptr) return std::unexpected(wasmtime::ToExit(error, trap).message);
    auto find = [&](std::string_view name) {
      wasmtime_extern_t item;
      // the bench's guest exports it
      wasmtime_instance_export_get(context_, &instance, name.data(), name.size(), &item);
      return item.of;
    };
    memory_.kind = WASMTIME_EXTERN_MEMORY;
    memory_.of = find("memory");
    caller_ = {guest_.get(), &memory_};
    for (int i = 0; i < kFunctions; ++i) functions_[i] = find(kNames[i]).func;
    return {};
  }

 private:
  bool Enter(Function function, std::initializer_list<uint32_t> args) override {
    wasmtime_val_raw_t values[kMaxArgs];
    size_t n = 0;
    for (const uint32_t arg : args) values[n++].i64 = arg;
    wasm_trap_t* trap = nullptr;
    wasmtime_error_t* error =
        wasmtime_func_call_unchecked(context_, &functions_[function], values, n > 0 ? n : 1, &trap);
    if (error != nullptr || trap != nullptr) [[unlikely]] {
      error_ = wasmtime::ToExit(error, trap).message;
      return false;
    }
    result_ = static_cast<uint32_t>(values[0].i32);
    return true;
  }
  uint8_t* Memory() const override { return wasmtime_memory_data(context_, &memory_.of.memory); }

  wasinn_wasmtime_caller caller_ = {};
  const StorePtr store_;
  wasmtime_context_t* const context_;
  wasmtime_extern_t memory_ = {};
  wasmtime_func_t functions_[kFunctions] = {};
};

wasinn_wasmtime_caller CallerOf(wasmtime_context_t* context, void*) {
  return *static_cast<wasinn_wasmtime_caller*>(wasmtime_context_get_data(context));
}

// Like an embedder with many guests: one linker, one pre-linked module.
class WasmtimeProgram final : public GuestProgram {
 public:
  Result<void> Compile(const ModuleBytes& bytes, const engines::Pool& pool) {
    engines::EngineOptions options;
    options.pool = pool;
    auto engine = wasmtime::NewEngine(options);
    if (!engine) return std::unexpected(engine.error());
    engine_ = std::move(*engine);
    wasmtime_module_t* module = nullptr;
    Result<void> compiled = TakeError(wasmtime_module_new(engine_.get(), bytes.data, bytes.size, &module));
    if (!compiled) return compiled;
    const ModulePtr owned(module);
    const LinkerPtr linker(wasmtime_linker_new(engine_.get()));
    const Status linked(wasinn_wasmtime_link_callers(linker.get(), nullptr, CallerOf, nullptr));
    if (!linked.ok()) return std::unexpected(linked.message());
    wasmtime_instance_pre_t* instance_pre = nullptr;
    Result<void> ready = TakeError(wasmtime_linker_instantiate_pre(linker.get(), module, &instance_pre));
    instance_pre_.reset(instance_pre);
    return ready;
  }

  Result<std::unique_ptr<GuestRunner>> NewGuest(const Host& host, const std::string& name,
                                                const std::vector<Tensor>& inputs,
                                                const std::vector<Tensor>& outputs) const override {
    Result<Guest> guest = NewBenchGuest(host);
    if (!guest) return std::unexpected(guest.error());
    auto made = std::make_unique<WasmtimeGuest>(engine_.get(), std::move(*guest));
    if (Result<void> started = made->Start(instance_pre_.get()); !started) return std::unexpected(started.error());
    if (Result<void> ready = made->Prepare(name, inputs, outputs); !ready) return std::unexpected(ready.error());
    return made;
  }

 private:
  EnginePtr engine_;
  InstancePrePtr instance_pre_;
};

}  // namespace

Result<std::unique_ptr<GuestProgram>> CompileModuleForWasmtime(const ModuleBytes& module, const engines::Pool& pool) {
  if (module.size == 0) {
    return std::unexpected("this wasinn was built without a compiler for guests, so it has none to run");
  }
  auto program = std::make_unique<WasmtimeProgram>();
  if (Result<void> compiled = program->Compile(module, pool); !compiled) return std::unexpected(compiled.error());
  return program;
}

Result<std::unique_ptr<GuestProgram>> CompileModule(const std::string& engine, bool once, const engines::Pool& pool) {
  const ModuleBytes bytes = once ? ModuleBytes{wasinn_bench_once_guest, wasinn_bench_once_guest_size}
                                 : ModuleBytes{wasinn_bench_guest, wasinn_bench_guest_size};
  return engine == "wamr" && bytes.size > 0 ? CompileModuleForWamr(bytes) : CompileModuleForWasmtime(bytes, pool);
}

}  // namespace wasinn::bench
