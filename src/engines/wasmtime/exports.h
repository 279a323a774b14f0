// What a module exports.
#pragma once

#include <wasinn/wasinn.h>
#include <wasmtime.h>

#include <initializer_list>
#include <string_view>

namespace wasinn::wasmtime {

inline constexpr char kStart[] = "_start";
inline constexpr char kMemory[] = WASINN_MEMORY_NAME;

// A function of that name with these parameters and no result.
bool ExportsFunction(const wasmtime_module_t* module, std::string_view name,
                     std::initializer_list<wasm_valkind_t> params);

}  // namespace wasinn::wasmtime
