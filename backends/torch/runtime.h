// What libwasinn_torch_runtime.so exports, and libwasinn_backend_torch.so calls.
#pragma once

namespace wasinn::torch {

// The functions that do the work; the rest of the table is the backend's own.
inline constexpr char kRuntimeSymbol[] = "wasinn_torch_runtime";

}  // namespace wasinn::torch
