// The nodes of a graph.
#ifndef WASINN_BACKENDS_TORCH_NODES_H_
#define WASINN_BACKENDS_TORCH_NODES_H_

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <functional>

namespace wasinn::torch {

// Goes through all nodes, of blocks within blocks too. Throws WASINN_SECURITY where those are very deep.
void ForEachNode(::torch::jit::Block* block, const std::function<void(::torch::jit::Node*, uint64_t depth)>& visit,
                 uint64_t depth = 0);

}  // namespace wasinn::torch

#endif  // WASINN_BACKENDS_TORCH_NODES_H_
