// The guest behind the modules that WasmEdge makes for one of its VMs.
#pragma once

#include <wasinn/wasmedge.h>

namespace wasinn::wasmedge_plugin {

constexpr char kStandard[] = "wasi_ephemeral_nn";

// Makes a module for the VM that is being made on this thread. A VM asks for kStandard first and for the others right
// after it; they share a guest, which is freed with the last of them. If wasi-nn is not available, for example because
// of wrong settings, the log has the reason and the module no functions: a guest that imports them is then not
// instantiated. Throws nothing, because WasmEdge's C API calls it.
WasmEdge_ModuleInstanceContext* MakeModule(const char* name) noexcept;

}  // namespace wasinn::wasmedge_plugin
