// The functions of one module, for who must hand them over rather than register them.
#pragma once

#include <wasinn/wamr.h>

#include <string_view>
#include <vector>

namespace wasinn::wamr {

// In the raw calling convention. What they refer to lives as long as `wamr`.
std::vector<NativeSymbol> NativesOf(const wasinn_wamr* wamr, std::string_view module);
// What each of them calls.
void Dispatch(wasm_exec_env_t env, uint64_t* values);

}  // namespace wasinn::wamr
