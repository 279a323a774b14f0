// The nodes of a graph.
#ifndef WASINN_BACKENDS_TORCH_NODES_H_
#define WASINN_BACKENDS_TORCH_NODES_H_

#include <torch/csrc/jit/ir/ir.h>

#include <functional>

namespace wasinn::torch {

// Goes through all nodes, of blocks within blocks too.
void ForEachNode(::torch::jit::Block* block, const std::function<void(::torch::jit::Node*)>& visit);

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_NODES_H_
