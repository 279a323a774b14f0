// The module `wasi_ephemeral_nn` of wasi-nn.witx (https://github.com/WebAssembly/wasi-nn), for core modules.
#pragma once

#include <wasinn/wasinn.h>

#include <span>

namespace wasinn::abi {

std::span<const wasinn_function> WitxFunctions();

}  // namespace wasinn::abi
