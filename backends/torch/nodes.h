// The nodes of a graph.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <functional>

namespace wasinn::torch {

// Goes through all nodes, of blocks within blocks too.
inline void ForEachNode(::torch::jit::Block* block, const std::function<void(::torch::jit::Node*)>& visit) {
  for (::torch::jit::Node* node : block->nodes()) {
    visit(node);
    for (::torch::jit::Block* inner : node->blocks()) ForEachNode(inner, visit);
  }
}

}  // namespace wasinn::torch
