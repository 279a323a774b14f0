#include "torch/devices.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>

#include <optional>
#include <string>

#include "torch/graph_check.h"
#include "torch/nodes.h"

namespace wasinn::torch {

namespace jit = ::torch::jit;

namespace {

bool NamesGpu(const c10::IValue& value) {
  if (value.isDevice()) return value.toDevice().is_cuda();
  return value.isString() && (value.toStringRef() == "cuda" || value.toStringRef().starts_with("cuda:"));
}

// A device, as a constant or of a constant name.
bool IsGpu(const jit::Node& node) {
  if (node.outputs().size() != 1 || node.output()->type()->kind() != c10::TypeKind::DeviceObjType) return false;
  const bool is_constant = node.kind() == c10::prim::Constant;
  if (!is_constant && node.kind() != c10::aten::device) return false;
  const auto value = jit::toIValue(is_constant ? node.output() : node.input(0));
  return value && NamesGpu(*value);
}

void PutOn(const c10::Device& device, jit::Graph* graph) {
  static const auto to_gpu = c10::Symbol::fromQualString("aten::cuda");
  static const auto to_cpu = c10::Symbol::fromQualString("aten::cpu");
  ForEachNode(graph->block(), [&](jit::Node* node) {
    if (IsGpu(*node)) {
      const jit::WithInsertPoint before(node);
      node->output()->replaceAllUsesWith(graph->insertConstant(device));
    } else if (node->kind() == to_gpu && device.is_cpu()) {
      const jit::WithInsertPoint before(node);
      node->output()->replaceAllUsesWith(graph->insert(to_cpu, {node->input(0)}));
    }
  });
}

}  // namespace

void PutOn(const c10::Device& device, const jit::Module& module) {
  for (jit::Function* function : FunctionsOf(module)) {
    if (auto* graph_function = jit::tryToGraphFunction(*function)) PutOn(device, graph_function->graph().get());
  }
  for (const jit::Module& one : module.modules()) {
    for (const auto& attribute : one.named_attributes(/*recurse=*/false)) {
      if (attribute.value.isDevice() && NamesGpu(attribute.value)) one._ivalue()->setAttr(attribute.name, device);
    }
  }
}

}  // namespace wasinn::torch
