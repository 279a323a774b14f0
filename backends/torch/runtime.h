// What libwasinn_torch_runtime.so exports, and libwasinn_backend_torch.so calls.
#ifndef WASINN_BACKENDS_TORCH_RUNTIME_H_
#define WASINN_BACKENDS_TORCH_RUNTIME_H_

namespace wasinn::torch {

// The functions that do the work; the rest of the table is the backend's own.
inline constexpr char kRuntimeSymbol[] = "wasinn_torch_runtime";

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_RUNTIME_H_
