#include "engines/wasmtime/exports.h"

#include <algorithm>
#include <memory>

#include "engines/wasmtime/handles.h"

namespace wasinn::wasmtime {

namespace {

using GlobalTypePtr = std::unique_ptr<wasm_globaltype_t, Deleter<wasm_globaltype_delete>>;

}  // namespace

std::optional<wasm_valkind_t> NumberKindOf(wasm_engine_t* engine, const wasm_valtype_t* type) {
  const StorePtr store(wasmtime_store_new(engine, nullptr, nullptr));
  const GlobalTypePtr global_type(wasm_globaltype_new(wasm_valtype_copy(type), WASM_CONST));
  for (const wasm_valkind_t kind : {WASM_I32, WASM_I64, WASM_F32, WASM_F64}) {
    wasmtime_val_t value = {};
    value.kind = kind;  // WASMTIME_I32 and so on are the same
    wasmtime_global_t global;
    wasmtime_error_t* error =
        wasmtime_global_new(wasmtime_store_context(store.get()), global_type.get(), &value, &global);
    if (error == nullptr) return kind;
    wasmtime_error_delete(error);
  }
  return std::nullopt;
}

bool ExportsFunction(wasm_engine_t* engine, const wasmtime_module_t* module, std::string_view name,
                     std::initializer_list<wasm_valkind_t> params) {
  wasm_exporttype_vec_t exports;
  wasmtime_module_exports(module, &exports);
  const bool found = std::any_of(exports.data, exports.data + exports.size, [&](const wasm_exporttype_t* item) {
    const wasm_name_t* its_name = wasm_exporttype_name(item);
    const wasm_functype_t* type = wasm_externtype_as_functype_const(wasm_exporttype_type(item));
    if (std::string_view(its_name->data, its_name->size) != name || type == nullptr) return false;
    const wasm_valtype_vec_t* its_params = wasm_functype_params(type);
    return wasm_functype_results(type)->size == 0 &&
           std::equal(
               params.begin(), params.end(), its_params->data, its_params->data + its_params->size,
               [&](wasm_valkind_t kind, const wasm_valtype_t* param) { return NumberKindOf(engine, param) == kind; });
  });
  wasm_exporttype_vec_delete(&exports);
  return found;
}

}  // namespace wasinn::wasmtime
