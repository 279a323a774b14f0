// Operators that write to arguments of which their schemas do not tell.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace wasinn::torch {

// Puts a node of ours, which does nothing and says that it writes, after each operator that writes to the running
// statistics of a normalisation: then PyTorch's analysis of aliases and its removal of dead code know it. AliasDb
// itself knows only of batch_norm and instance_norm. Likewise after one that gives a tensor another one's memory.
void MarkSilentWrites(::torch::jit::Graph* graph);

// Takes away the marks of those that are known not to be in training, and write nothing.
void UnmarkEvaluation(::torch::jit::Graph* graph);

}  // namespace wasinn::torch
