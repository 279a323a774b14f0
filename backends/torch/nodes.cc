#include "torch/nodes.h"

namespace wasinn::torch {

namespace jit = ::torch::jit;

void ForEachNode(jit::Block* block, const std::function<void(jit::Node*)>& visit) {
  for (jit::Node* node : block->nodes()) {
    visit(node);
    for (jit::Block* inner : node->blocks()) ForEachNode(inner, visit);
  }
}

}  // namespace wasinn::torch
