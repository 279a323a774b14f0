// Libraries of custom operators. PyTorch has one list of operators and classes in an OS process, so a library's are
// there for every model: this knows which models may have them.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <span>
#include <string>

namespace wasinn::torch {

// Opens them, each once in an OS process. Thread-safe.
void OpenOpLibraries(std::span<const std::string> paths);

// Throws WASINN_ERROR_UNSUPPORTED_OPERATION if the model has an operator or a class of any opened library. For a model
// whose configuration lists none.
void CheckHasNoneOfLibraries(const ::torch::jit::Module& module);

}  // namespace wasinn::torch
