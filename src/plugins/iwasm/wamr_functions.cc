// The adapter calls WAMR's functions by their names. This library has its own hidden functions of these names, which
// call the program's. If they were left to the dynamic linker, it would report the first missing one, or crash later.
#include "plugins/iwasm/wamr_functions.h"

#include <dlfcn.h>
#include <wasm_export.h>

#define WAMR_FUNCTIONS(X)                                                                                  \
  X(bool, wasm_runtime_register_natives_raw, (const char* module, NativeSymbol* symbols, uint32_t count),  \
    (module, symbols, count))                                                                              \
  X(bool, wasm_runtime_unregister_natives, (const char* module, NativeSymbol* symbols), (module, symbols)) \
  X(void*, wasm_runtime_create_context_key, (void (*ended)(wasm_module_inst_t, void*)), (ended))           \
  X(void, wasm_runtime_destroy_context_key, (void* key), (key))                                            \
  X(void, wasm_runtime_set_context_spread, (wasm_module_inst_t instance, void* key, void* context),        \
    (instance, key, context))                                                                              \
  X(void*, wasm_runtime_get_context, (wasm_module_inst_t instance, void* key), (instance, key))            \
  X(void*, wasm_runtime_get_function_attachment, (wasm_exec_env_t env), (env))                             \
  X(wasm_module_inst_t, wasm_runtime_get_module_inst, (wasm_exec_env_t env), (env))                        \
  X(wasm_module_t, wasm_runtime_get_module, (wasm_module_inst_t instance), (instance))                     \
  X(const char*, wasm_runtime_get_exception, (wasm_module_inst_t instance), (instance))                    \
  X(void, wasm_runtime_set_exception, (wasm_module_inst_t instance, const char* what), (instance, what))   \
  X(int32_t, wasm_runtime_get_export_count, (const wasm_module_t module), (module))                        \
  X(void, wasm_runtime_get_export_type, (const wasm_module_t module, int32_t index, wasm_export_t* type),  \
    (module, index, type))                                                                                 \
  X(int32_t, wasm_runtime_get_import_count, (const wasm_module_t module), (module))                        \
  X(void, wasm_runtime_get_import_type, (const wasm_module_t module, int32_t index, wasm_import_t* type),  \
    (module, index, type))                                                                                 \
  X(wasm_memory_inst_t, wasm_runtime_lookup_memory, (const wasm_module_inst_t instance, const char* name), \
    (instance, name))                                                                                      \
  X(void*, wasm_memory_get_base_address, (const wasm_memory_inst_t memory), (memory))                      \
  X(uint64_t, wasm_memory_get_cur_page_count, (const wasm_memory_inst_t memory), (memory))                 \
  X(uint64_t, wasm_memory_get_bytes_per_page, (const wasm_memory_inst_t memory), (memory))                 \
  X(bool, wasm_memory_get_shared, (const wasm_memory_inst_t memory), (memory))

// NOLINTBEGIN(bugprone-macro-parentheses): types and lists of parameters
namespace {

// The program's functions, found once, before any is called.
struct Found {
#define X(result, name, params, args) result(*name) params;
  WAMR_FUNCTIONS(X)
#undef X
};
Found g_found;

}  // namespace

extern "C" {
#define X(result, name, params, args) \
  result name params { return g_found.name args; }
WAMR_FUNCTIONS(X)
#undef X
}  // extern "C"

namespace wasinn::iwasm {

std::string FindWamr() {
  std::string missing;
#define X(result, name, params, args)                                            \
  g_found.name = reinterpret_cast<result(*) params>(dlsym(RTLD_DEFAULT, #name)); \
  if (g_found.name == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(#name);
  WAMR_FUNCTIONS(X)
#undef X
  return missing;
}
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace wasinn::iwasm
