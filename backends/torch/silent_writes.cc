#include "torch/silent_writes.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "torch/nodes.h"

namespace wasinn::torch {

namespace jit = ::torch::jit;

namespace {

constexpr char kMark[] = "wasinn::writes";

const jit::RegisterOperators& RegisterMark() {
  static const jit::RegisterOperators registered({jit::Operator(
      "wasinn::writes(Tensor(a!)? written, bool training) -> ()", [](jit::Stack& stack) { jit::drop(stack, 2); },
      c10::AliasAnalysisKind::FROM_SCHEMA)});
  return registered;
}

// By the names of arguments, since they are one family with many members. The few that only read them, as those for
// gradients, count as writers where no argument tells.
bool IsStatistic(const c10::Argument& argument) {
  return argument.name() == "running_mean" || argument.name() == "running_var";
}

bool IsTraining(const c10::Argument& argument) {
  return argument.name() == "training" || argument.name() == "use_input_stats";
}

// What one tensor takes from another is that one's memory, and may be written there later.
bool TakesMemory(const jit::Node* node) {
  const std::string_view name = node->kind().toQualString();
  return name == "aten::set" || name == "aten::set_" || name == "aten::set_data";
}

void MarkNode(jit::Node* node) {
  const c10::FunctionSchema* schema = node->maybeSchema();
  if (schema == nullptr) return;
  const bool takes = TakesMemory(node);
  const auto is_written = [takes](const c10::Argument& argument) {
    return takes ? argument.type()->kind() == c10::TypeKind::TensorType : IsStatistic(argument);
  };
  if (std::ranges::none_of(schema->arguments(), is_written)) return;
  const size_t n_arguments = std::min(schema->arguments().size(), node->inputs().size());
  jit::Graph* graph = node->owningGraph();
  const jit::WithInsertPoint after(node->next());
  jit::Value* training = nullptr;
  for (size_t i = 0; i < n_arguments; ++i) {
    if (IsTraining(schema->arguments()[i])) training = node->input(i);
  }
  if (training == nullptr) training = graph->insertConstant(true);
  for (size_t i = 0; i < n_arguments; ++i) {
    if (!is_written(schema->arguments()[i]) || node->input(i)->mustBeNone()) continue;
    graph->insertNode(graph->create(c10::Symbol::fromQualString(kMark), {node->input(i), training}, 0));
  }
}

}  // namespace

void MarkSilentWrites(jit::Graph* graph) {
  RegisterMark();
  std::vector<jit::Node*> nodes;
  ForEachNode(graph->block(), [&](jit::Node* node) { nodes.push_back(node); });
  for (jit::Node* node : nodes) MarkNode(node);
}

void UnmarkEvaluation(jit::Graph* graph) {
  const auto mark = c10::Symbol::fromQualString(kMark);
  std::vector<jit::Node*> marks;
  ForEachNode(graph->block(), [&](jit::Node* node) {
    if (node->kind() == mark && jit::constant_as<bool>(node->input(1)) == false) marks.push_back(node);
  });
  for (jit::Node* node : marks) node->destroy();
}

}  // namespace wasinn::torch
