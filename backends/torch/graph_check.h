// What the functions of a loaded model do, before any of them runs.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <vector>

namespace wasinn::torch {

// Throws WASINN_ERROR_SECURITY where the model names a file: one that came as bytes is whole.
void RefuseFiles(const ::torch::jit::Module& module);

// Every round of a loop asks whether the call was cancelled from now on.
void MakeLoopsCancellable(const ::torch::jit::Module& module);

// From now on the functions say where what an operator gives may be what it was given. Before what follows.
void SaySilentAliases(const ::torch::jit::Module& module);

// Constants are part of the code, which all contexts share: those that a function writes to are copied in each run.
// Throws WASINN_ERROR_UNSUPPORTED_OPERATION for one that is no lone tensor.
void CopyWrittenConstants(const ::torch::jit::Module& module);

struct Effects {
  // Its attributes change when it computes, so that each context needs its own; or it may keep its inputs.
  bool stateful = false;
  // It may show memory that it has not written.
  bool shows_new_memory = false;
  // Inputs (without self) that it writes to.
  std::vector<bool> writes_input;
};
Effects FindEffects(const ::torch::jit::Module& module, const ::torch::jit::Method& method);

// All functions of the module, its methods and those of what it holds.
std::vector<::torch::jit::Function*> FunctionsOf(const ::torch::jit::Module& module);

}  // namespace wasinn::torch
