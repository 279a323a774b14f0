// Operators whose schemas do not tell that they give the memory that they were given, or write to arguments.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace wasinn::torch {

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
