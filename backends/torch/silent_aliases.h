// Operators that may give the memory that they were given, of which their schemas do not tell.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace wasinn::torch {

// Puts a node of ours behind each of them, which gives what it gave and says the truth: else PyTorch's analysis of aliases
// takes it for new memory, and PyTorch itself writes to what it has computed once and for all.
void SaySilentAliases(::torch::jit::Graph* graph);

}  // namespace wasinn::torch
