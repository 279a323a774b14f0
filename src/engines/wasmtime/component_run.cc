#include "engines/wasmtime/component_run.h"

#include <wasinn/wasmtime.h>

#include <string_view>
#include <utility>
#include <vector>

#include "engines/guest_run.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/store_limits.h"
#include "engines/wasmtime/wasi.h"

namespace wasinn::wasmtime {
namespace {

using engines::Exit;
using engines::Result;
using engines::RunOptions;

// Of any version that is compatible: looking up an export, Wasmtime goes by semver.
constexpr std::string_view kInterface = "wasi:cli/run@0.2.0";
constexpr std::string_view kFunction = "run";

// One linked component serves every guest, so which one it is travels with the store.
wasinn_guest* GuestOf(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

// func() -> result
bool IsRun(const wasmtime_component_func_t& function, wasmtime_context_t* context) {
  wasmtime_component_func_type_t* type = wasmtime_component_func_type(&function, context);
  wasmtime_component_valtype_t result;
  bool is_run = wasmtime_component_func_type_param_count(type) == 0;
  if (wasmtime_component_func_type_result(type, &result)) {
    is_run = is_run && result.kind == WASMTIME_COMPONENT_VALTYPE_RESULT;
    wasmtime_component_valtype_delete(&result);
  } else {
    is_run = false;
  }
  wasmtime_component_func_type_delete(type);
  return is_run;
}

class ComponentProgram final : public engines::Program {
 public:
  ComponentProgram(EnginePtr engine, ComponentPrePtr pre, ExportIndexPtr run, std::vector<engines::MemoryType> memories)
      : engine_(std::move(engine)), pre_(std::move(pre)), run_(std::move(run)), memories_(std::move(memories)) {}

  Exit Run(const RunOptions& options) const override {
    const Result<StoreLimits> limits = StoreLimits::New(memories_, options);
    if (!limits) return Exit::Failed(limits.error());
    engines::GuestRun run(options.guest, [this] { wasmtime_engine_increment_epoch(engine_.get()); });
    if (!run.begun()) return Exit::Failed(run.begun().error());
    const StorePtr store(wasmtime_store_new(engine_.get(), options.guest, nullptr));
    limits->Hold(store.get());
    EndWith(store.get(), run);
    const Exit exit = run.End(RunIn(wasmtime_store_context(store.get()), options));
    if (options.guest != nullptr) wasinn_guest_close(options.guest);  // before the store, which has the memory
    return exit;
  }

 private:
  Exit RunIn(wasmtime_context_t* context, const RunOptions& options) const {
    if (Result<void> wasi = SetWasi(context, options); !wasi) return Exit::Failed(wasi.error());
    wasinn_wasmtime_component_set_up(context, options.guest);
    wasmtime_component_instance_t instance;
    wasmtime_error_t* error = wasinn_wasmtime_component_pre_instantiate(pre_.get(), context, &instance);
    if (error != nullptr) return ToExit(error);
    wasmtime_component_func_t run;
    if (!wasmtime_component_instance_get_func(&instance, context, run_.get(), &run) || !IsRun(run, context)) {
      return Exit::Failed("the component's wasi:cli/run is of another type than the standard's");
    }
    wasmtime_component_val_t result = {};
    error = wasmtime_component_func_call(&run, context, nullptr, 0, &result, 1);
    if (error != nullptr) return ToExit(error);
    const bool ok = result.of.result.is_ok;
    wasmtime_component_val_delete(&result);
    return {Exit::Kind::kExited, ok ? 0 : 1, ""};
  }

  EnginePtr engine_;
  ComponentPrePtr pre_;
  ExportIndexPtr run_;
  std::vector<engines::MemoryType> memories_;
};

Result<ComponentLinkerPtr> NewLinker(wasm_engine_t* engine) {
  ComponentLinkerPtr linker(wasmtime_component_linker_new(engine));
  // First, for it tells whether this Wasmtime can serve components at all.
  auto nn = TakeStatus(wasinn_wasmtime_component_link(linker.get(), nullptr, GuestOf, nullptr));
  if (!nn) return std::unexpected(nn.error());
  auto wasi = TakeError(wasmtime_component_linker_add_wasip2(linker.get()));
  if (!wasi) return std::unexpected(wasi.error());
  return linker;
}

ExportIndexPtr FindRun(const wasmtime_component_t* component) {
  const ExportIndexPtr interface(
      wasmtime_component_get_export_index(component, nullptr, kInterface.data(), kInterface.size()));
  if (interface == nullptr) return nullptr;
  return ExportIndexPtr(
      wasmtime_component_get_export_index(component, interface.get(), kFunction.data(), kFunction.size()));
}

}  // namespace

Result<std::unique_ptr<engines::Program>> LoadComponent(wasm_engine_t* engine,
                                                        const std::function<Result<ComponentPtr>()>& compile,
                                                        std::vector<engines::MemoryType> memories) {
  Result<ComponentLinkerPtr> linker = NewLinker(engine);
  if (!linker) return std::unexpected(linker.error());
  const Result<ComponentPtr> compiled = compile();
  if (!compiled) return std::unexpected(compiled.error());
  const ComponentPtr& component = *compiled;
  ExportIndexPtr run = FindRun(component.get());
  if (run == nullptr) {
    return std::unexpected("the component exports no wasi:cli/run, so it is a library and not a program");
  }
  wasinn_wasmtime_component_pre* pre = nullptr;
  auto linked = TakeError(wasinn_wasmtime_component_pre_new(linker->get(), component.get(), &pre));
  if (!linked) return std::unexpected(linked.error());
  return std::make_unique<ComponentProgram>(EnginePtr(wasmtime_engine_clone(engine)), ComponentPrePtr(pre),
                                            std::move(run), std::move(memories));
}

}  // namespace wasinn::wasmtime
