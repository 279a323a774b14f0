// Opens libtorch, and then the library of ours that is linked to it.
#pragma once

#include <wasinn/backend.h>

#include <string>

namespace wasinn::torch {

inline constexpr char kInstall[] = "scripts/deps.sh torch";

// Any thread. The first success decides which libtorch this OS process has: libraries of C++ cannot be there twice.
// Throws WASINN_ERROR_UNSUPPORTED_OPERATION that names what is missing. `library`: where libtorch.so is, or empty.
void OpenRuntime(const std::string& library);

// NULL before OpenRuntime has succeeded.
const wasinn_backend* Runtime();

}  // namespace wasinn::torch
