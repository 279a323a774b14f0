// The functions of one module, for programs that pass them on and do not register them.
#pragma once

#include <wasinn/wamr.h>

#include <string_view>
#include <vector>

namespace wasinn::wamr {

// In the raw calling convention. Their data lives as long as `wamr`.
std::vector<NativeSymbol> NativesOf(const wasinn_wamr* wamr, std::string_view module);
// The function behind each of them.
void Dispatch(wasm_exec_env_t env, uint64_t* values);

}  // namespace wasinn::wamr
