// Wasmtime's types for wasi-nn's functions. C++17 without its library, like everything that is installed as source.
#ifndef WASINN_ENGINES_WASMTIME_FUNCTION_TYPE_H_
#define WASINN_ENGINES_WASMTIME_FUNCTION_TYPE_H_

#include <wasinn/engine.h>
#include <wasmtime.h>

#include <cstring>

namespace wasinn::wasmtime {

// All are i32. The caller deletes it.
inline wasm_functype_t* TypeOf(const wasinn_function& function) {
  wasm_valtype_vec_t params, results;
  wasm_valtype_vec_new_uninitialized(&params, std::strlen(function.params));
  for (size_t i = 0; i < params.size; ++i) params.data[i] = wasm_valtype_new(WASM_I32);
  wasm_valtype_t* result = wasm_valtype_new(WASM_I32);
  wasm_valtype_vec_new(&results, 1, &result);
  return wasm_functype_new(&params, &results);  // takes over both
}

}  // namespace wasinn::wasmtime

#endif  // WASINN_ENGINES_WASMTIME_FUNCTION_TYPE_H_
