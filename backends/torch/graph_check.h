// Checks the functions of a loaded model, before any of them runs.
#pragma once

#include <c10/core/Device.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <memory>
#include <vector>

namespace wasinn::torch {

// Visits all nodes, including those of nested blocks.
inline void ForEachNode(::torch::jit::Block* block, const std::function<void(::torch::jit::Node*)>& visit) {
  for (::torch::jit::Node* node : block->nodes()) {
    visit(node);
    for (::torch::jit::Block* inner : node->blocks()) ForEachNode(inner, visit);
  }
}

// The graphs of all functions of the module: its methods and those of its members.
std::vector<std::shared_ptr<::torch::jit::Graph>> GraphsOf(const ::torch::jit::Module& module);

// Throws WASINN_ERROR_SECURITY if the model names a file: a model that came as bytes must be self-contained.
void RefuseFiles(const ::torch::jit::Module& module);

// From now on every round of a loop checks whether the call was cancelled.
void MakeLoopsCancellable(const ::torch::jit::Module& module);

// From now on the functions show if an operator's result may be its argument. Call it before the following ones.
void SaySilentAliases(const ::torch::jit::Module& module);

// Constants are part of the code, which all contexts share: those that a function writes to are copied in each run.
// Throws WASINN_ERROR_UNSUPPORTED_OPERATION for one that is no single tensor.
void CopyWrittenConstants(const ::torch::jit::Module& module);

struct Effects {
  // Its attributes change when it computes, so each context needs its own; or it may keep its inputs.
  bool stateful = false;
  // It may show memory that it has not written.
  bool shows_new_memory = false;
  // Inputs (without self) that it writes to.
  std::vector<bool> writes_input;
};
Effects FindEffects(const ::torch::jit::Method& method);

// A model that was traced or written on a GPU has that in its code and attributes, as "cuda:0". Loading only moves
// tensors. From now on each GPU that it names is `device`. A name that the code makes while it runs is not found.
void PutOn(const c10::Device& device, const ::torch::jit::Module& module);

// Puts a node of this backend behind each of them, with the same result, marked as a possible alias: else PyTorch takes
// the result for new memory, and itself writes to values that it has computed only once.
void SaySilentAliases(::torch::jit::Graph* graph);

// Puts a node of this backend, which does nothing and is marked as a write, after each operator that writes to a
// normalisation's running statistics: then PyTorch's analysis of aliases and its removal of dead code know it. AliasDb
// itself only knows batch_norm and instance_norm. The same after an operator that moves memory between tensors.
void MarkSilentWrites(::torch::jit::Graph* graph);

// Removes the marks of operators that are known not to be in training, and write nothing.
void UnmarkEvaluation(::torch::jit::Graph* graph);

}  // namespace wasinn::torch
