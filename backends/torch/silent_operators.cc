#include "torch/graph_check.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace wasinn::torch {

namespace jit = ::torch::jit;

namespace {

// Found by tests/backends/torch_silent_test.cc, which calls each operator (PyTorch 2.13); in alphabetical order. They
// return their first tensor, or a part of it, if there is nothing to do: dropout in evaluation, a type or a shape that is
// right.
// clang-format off
constexpr std::string_view kSame[] = {
    "_c10d_functional::wait_tensor", "aten::_cast_Byte", "aten::_cast_Char", "aten::_cast_Double", "aten::_cast_Float",
    "aten::_cast_Half", "aten::_cast_Int", "aten::_cast_Long", "aten::_cast_Short", "aten::_conj_physical",
    "aten::_foobar", "aten::_nested_compute_contiguous_strides_offsets", "aten::_no_grad_embedding_renorm_",
    "aten::_remove_batch_dim", "aten::_reshape_from_tensor", "aten::_saturate_weight_to_fp16",
    "aten::_test_optional_filled_intlist", "aten::_test_optional_floatlist", "aten::_test_optional_intlist",
    "aten::_test_parallel_materialize", "aten::_test_string_default", "aten::_to_cpu", "aten::_to_sparse",
    "aten::_to_sparse_csr", "aten::_unsafe_view", "aten::alpha_dropout", "aten::atleast_1d", "aten::atleast_2d",
    "aten::atleast_3d", "aten::broadcast_tensors", "aten::conj_physical", "aten::cumprod_backward", "aten::data",
    "aten::dequantize", "aten::dropout", "aten::feature_alpha_dropout", "aten::feature_dropout",
    "aten::gather_backward", "aten::lift", "aten::meshgrid", "aten::quantize_per_tensor_dynamic", "aten::sum_to_size",
    "aten::to_dense", "aten::to_dense_backward", "aten::to_mkldnn_backward", "aten::to_sparse", "aten::to_sparse_csr",
    "aten::type_as", "aten::unflatten_dense_tensors", "aten::unsafe_chunk", "aten::unsafe_split",
    "aten::unsafe_split_with_sizes", "inductor::_alloc_from_pool", "inductor::_reinterpret_tensor",
    "quantized::dropout",
};
// clang-format on
// These do so with a list of one tensor.
constexpr std::string_view kSameOfOne[] = {"aten::cartesian_prod", "aten::einsum", "aten::flatten_dense_tensors"};
// The results of these may be any of their tensors.
constexpr std::string_view kSameOfAny[] = {"aten::_gather_sparse_backward", "aten::_pack_sequence"};

// A sparse tensor consists of the tensors that it is made of: sparse_coo_tensor, _sparse_csr_tensor_unsafe, …
bool MakesSparse(std::string_view name) {
  return (name.starts_with("aten::sparse_") || name.starts_with("aten::_sparse_")) && name.contains("_tensor");
}

bool MayBeAny(std::string_view name) {
  return MakesSparse(name) || std::ranges::find(kSameOfAny, name) != std::end(kSameOfAny);
}

bool IsTensor(const jit::Value* value) {
  return !value->mustBeNone() && value->type()->isSubtypeOf(*c10::OptionalType::ofTensor());
}

bool IsTensors(const jit::Value* value) {
  const auto list = value->type()->cast<c10::ListType>();
  return list != nullptr && list->getElementType()->kind() == c10::TypeKind::TensorType;
}

// The tensors of a list that no other code can change.
jit::Node* MadeFor(jit::Value* list) {
  const bool own = list->node()->kind() == c10::prim::ListConstruct && list->uses().size() == 1;
  return own ? list->node() : nullptr;
}

bool MayGiveTheSame(jit::Node* node) {
  const std::string_view name = node->kind().toQualString();
  if (std::ranges::find(kSame, name) != std::end(kSame) || MayBeAny(name)) return true;
  if (std::ranges::find(kSameOfOne, name) == std::end(kSameOfOne)) return false;
  return std::ranges::none_of(node->inputs(), [](jit::Value* input) {
    const jit::Node* made = IsTensors(input) ? MadeFor(input) : nullptr;
    return made != nullptr && made->inputs().size() != 1;
  });
}

// An operator of this backend: returns `result`, marked as a possible alias of its arguments.
const jit::RegisterOperators& RegisterSame() {
  const auto result = [](jit::Stack& stack) { stack.erase(stack.end() - 2); };
  const auto is_said = c10::AliasAnalysisKind::FROM_SCHEMA;
  static const jit::RegisterOperators registered(
      {jit::Operator("wasinn::same(Tensor(a)? given, Tensor(b)? result) -> Tensor(a|b)?", result, is_said),
       jit::Operator("wasinn::same.parts(Tensor(a -> *) given, Tensor[] result) -> Tensor(a)[]", result, is_said),
       jit::Operator("wasinn::same.first(Tensor[] given, Tensor result) -> Tensor(*)", result, is_said),
       jit::Operator("wasinn::same.all(Tensor[](a) given, Tensor[] result) -> Tensor[](a)", result, is_said)});
  return registered;
}

// Puts the operator behind `result`, and returns its own.
jit::Value* SaySame(jit::Value* given, jit::Value* result) {
  jit::Node* made = IsTensors(given) && IsTensor(result) ? MadeFor(given) : nullptr;
  if (made != nullptr && made->inputs().size() == 1) given = made->inputs()[0];
  jit::Node* same = result->owningGraph()->create(c10::Symbol::fromQualString("wasinn::same"), {given, result});
  same->output()->setType(result->type());
  same->insertAfter(result->node());
  result->replaceAllUsesAfterNodeWith(same, same->output());
  return same->output();
}

void SaySame(jit::Node* node) {
  const bool of_any = MayBeAny(node->kind().toQualString());
  const auto holds_tensors = [](const jit::Value* value) { return IsTensor(value) || IsTensors(value); };
  for (jit::Value* result : node->outputs()) {
    if (!holds_tensors(result)) continue;
    for (jit::Value* given : node->inputs()) {
      if (!holds_tensors(given)) continue;
      result = SaySame(given, result);
      if (!of_any) break;
    }
  }
}

constexpr char kMark[] = "wasinn::writes";

const jit::RegisterOperators& RegisterMark() {
  static const jit::RegisterOperators registered({jit::Operator(
      "wasinn::writes(Tensor(a!)? written, bool training) -> ()", [](jit::Stack& stack) { jit::drop(stack, 2); },
      c10::AliasAnalysisKind::FROM_SCHEMA)});
  return registered;
}

// By the names of arguments, since they are one family with many members. The few that only read them, for example for
// gradients, count as writers if no argument shows it.
bool IsStatistic(const c10::Argument& argument) {
  return argument.name() == "running_mean" || argument.name() == "running_var";
}

bool IsTraining(const c10::Argument& argument) {
  return argument.name() == "training" || argument.name() == "use_input_stats";
}

// If one tensor takes another's memory, later writes may go there. The last two write to their first tensor, cov only
// with weights for a single observation.
bool WritesTensors(const jit::Node* node) {
  constexpr std::string_view kNames[] = {"aten::set", "aten::set_", "aten::set_data", "aten::cov",
                                         "aten::_no_grad_embedding_renorm_"};
  return std::ranges::find(kNames, node->kind().toQualString()) != std::end(kNames);
}

void MarkNode(jit::Node* node) {
  const c10::FunctionSchema* schema = node->maybeSchema();
  if (schema == nullptr) return;
  const bool tensors = WritesTensors(node);
  const auto is_written = [tensors](const c10::Argument& argument) {
    return tensors ? argument.type()->kind() == c10::TypeKind::TensorType : IsStatistic(argument);
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

void SaySilentAliases(jit::Graph* graph) {
  RegisterSame();
  std::vector<jit::Node*> nodes;
  ForEachNode(graph->block(), [&](jit::Node* node) {
    if (MayGiveTheSame(node)) nodes.push_back(node);
  });
  for (jit::Node* node : nodes) SaySame(node);
}

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
