#include "engines/wasmtime/exports.h"

#include <algorithm>

namespace wasinn::wasmtime {

bool ExportsFunction(const wasmtime_module_t* module, std::string_view name,
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
               [](wasm_valkind_t kind, const wasm_valtype_t* param) { return wasm_valtype_kind(param) == kind; });
  });
  wasm_exporttype_vec_delete(&exports);
  return found;
}

}  // namespace wasinn::wasmtime
