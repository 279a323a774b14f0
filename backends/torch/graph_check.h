// What the functions of a loaded model do, before any of them runs.
#pragma once

#include <c10/core/Device.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <vector>

namespace wasinn::torch {

// Goes through all nodes, of blocks within blocks too.
inline void ForEachNode(::torch::jit::Block* block, const std::function<void(::torch::jit::Node*)>& visit) {
  for (::torch::jit::Node* node : block->nodes()) {
    visit(node);
    for (::torch::jit::Block* inner : node->blocks()) ForEachNode(inner, visit);
  }
}

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
Effects FindEffects(const ::torch::jit::Method& method);

// A model that was traced or written on a GPU has that in its code and attributes, as "cuda:0". Loading moves tensors
// only. From now on each GPU that it names is `device`. One whose name the code makes as it runs is not found.
void PutOn(const c10::Device& device, const ::torch::jit::Module& module);

// Puts a node of ours behind each of them, which gives what it gave and says the truth: else PyTorch's analysis of aliases
// takes it for new memory, and PyTorch itself writes to what it has computed once and for all.
void SaySilentAliases(::torch::jit::Graph* graph);

// Puts a node of ours, which does nothing and says that it writes, after each operator that writes to the running
// statistics of a normalisation: then PyTorch's analysis of aliases and its removal of dead code know it. AliasDb
// itself knows only of batch_norm and instance_norm. Likewise after one that gives a tensor another one's memory.
void MarkSilentWrites(::torch::jit::Graph* graph);

// Takes away the marks of those that are known not to be in training, and write nothing.
void UnmarkEvaluation(::torch::jit::Graph* graph);

}  // namespace wasinn::torch
