// The nodes of a graph.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <functional>

namespace wasinn::torch {

// Goes through all nodes, of blocks within blocks too.
void ForEachNode(::torch::jit::Block* block, const std::function<void(::torch::jit::Node*)>& visit);

}  // namespace wasinn::torch
