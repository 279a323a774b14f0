#include "torch/nodes.h"

#include <fmt/format.h>

#include "common/error.h"

namespace wasinn::torch {

namespace jit = ::torch::jit;

void ForEachNode(jit::Block* block, const std::function<void(jit::Node*, uint64_t depth)>& visit, uint64_t depth) {
  constexpr uint64_t kDeepestBlocks = 300;
  if (depth > kDeepestBlocks) {
    throw backend::Error(WASINN_SECURITY, fmt::format("the model has blocks nested more than {} deep", kDeepestBlocks));
  }
  for (jit::Node* node : block->nodes()) {
    visit(node, depth);
    for (jit::Block* inner : node->blocks()) ForEachNode(inner, visit, depth + 1);
  }
}

}  // namespace wasinn::torch
