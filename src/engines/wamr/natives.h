// The functions of one module in WAMR's usual calling convention, for who must hand them over rather than register
// them.
#pragma once

#include <wasinn/wamr.h>

#include <vector>

namespace wasinn::wamr {

// WAMR may sort it, and keeps pointers into it and into `wamr`. Functions with more than five parameters are left out.
std::vector<NativeSymbol> PlainNatives(const wasinn_wamr* wamr, const char* module);

}  // namespace wasinn::wamr
