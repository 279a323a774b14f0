// What libwasinn_torch_runtime.so exports, and libwasinn_backend_torch.so calls.
#ifndef WASINN_BACKENDS_TORCH_RUNTIME_H_
#define WASINN_BACKENDS_TORCH_RUNTIME_H_

#include <wasinn/backend.h>

namespace wasinn::torch {

inline constexpr char kRuntimeSymbol[] = "wasinn_torch_runtime";

// The functions that do the work; the rest of the table is the backend's own. Lives as long as the OS process.
using RuntimeFunction = const wasinn_backend* (*)();

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_RUNTIME_H_
