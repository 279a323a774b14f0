// The exports of a module.
#pragma once

#include <wasinn/engine.h>
#include <wasmtime.h>

#include <initializer_list>
#include <optional>
#include <string_view>

namespace wasinn::wasmtime {

// No value if it is no i32, i64, f32 or f64. wasm_valtype_kind ends the OS process for v128 and most references, so a
// value of each kind is tried in a global of the type.
std::optional<wasm_valkind_t> NumberKindOf(wasm_engine_t* engine, const wasm_valtype_t* type);

inline constexpr char kStart[] = "_start";
inline constexpr char kMemory[] = WASINN_MEMORY_NAME;

// Whether it exports a function of that name with these parameters and no result.
bool ExportsFunction(wasm_engine_t* engine, const wasmtime_module_t* module, std::string_view name,
                     std::initializer_list<wasm_valkind_t> params);

}  // namespace wasinn::wasmtime
