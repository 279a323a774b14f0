#include "torch/graph_check.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "common/throw.h"
#include "torch/call_scope.h"

namespace wasinn::torch {

using backend::Throw;
namespace jit = ::torch::jit;

namespace {

bool HasClass(const c10::TypePtr& type) {
  return type->kind() == c10::TypeKind::ClassType || type->kind() == c10::TypeKind::InterfaceType ||
         std::ranges::any_of(type->containedTypes(), HasClass);
}

// An operator of this backend with an effect, so that no optimisation removes it.
const jit::RegisterOperators& RegisterPoll() {
  static const jit::RegisterOperators registered({jit::Operator(
      "wasinn::poll() -> ()",
      [](jit::Stack&) {
        if (const CallScope* scope = CallScope::Current()) scope->Poll();
      },
      c10::AliasAnalysisKind::CONSERVATIVE)});
  return registered;
}

// Types whose values never change.
bool IsFixed(const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::BoolType:
    case c10::TypeKind::ComplexType:
    case c10::TypeKind::DeviceObjType:
    case c10::TypeKind::EnumType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::FunctionType:
    case c10::TypeKind::IntType:
    case c10::TypeKind::LayoutType:
    case c10::TypeKind::MemoryFormatType:
    case c10::TypeKind::NoneType:
    case c10::TypeKind::NumberType:
    case c10::TypeKind::QSchemeType:
    case c10::TypeKind::ScalarTypeType:
    case c10::TypeKind::StringType:
      return true;
    case c10::TypeKind::OptionalType:
    case c10::TypeKind::TupleType:
      return std::ranges::all_of(type->containedTypes(), IsFixed);
    default:
      return false;
  }
}

// Types whose values hold others that the type shows. Classes do, too: their members are checked at their use.
bool IsContainer(const c10::TypePtr& type) {
  return type->kind() == c10::TypeKind::ListType || type->kind() == c10::TypeKind::DictType ||
         type->kind() == c10::TypeKind::OptionalType || type->kind() == c10::TypeKind::TupleType;
}

// Whether a value of the type may hold one that is used as one of type `other`.
bool Holds(const c10::TypePtr& type, const c10::TypePtr& other) {
  const auto is_other = [&](const c10::TypePtr& held) {
    const bool same = held->kind() == c10::TypeKind::TensorType || *held == *other;  // a tensor of any shape
    return (held->kind() == other->kind() && same) || Holds(held, other);
  };
  return IsContainer(type) && std::ranges::any_of(type->containedTypes(), is_other);
}

// Whether a value of the type may hold anything, as far as the type shows.
bool IsOpaque(const c10::TypePtr& type) {
  const bool is_known = IsFixed(type) || IsContainer(type) || type->kind() == c10::TypeKind::ClassType ||
                        type->kind() == c10::TypeKind::TensorType;
  return !is_known || (IsContainer(type) && std::ranges::any_of(type->containedTypes(), IsOpaque));
}

c10::TypePtr WithoutOptional(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return optional == nullptr ? type : optional->getElementType();
}

// The values that a graph's nodes write to, once its silent writes have been marked.
class Writes {
 public:
  explicit Writes(const std::shared_ptr<jit::Graph>& graph) : aliases_(graph) {
    ForEachNode(graph->block(), [this](jit::Node* node) {
      if (node->kind() == c10::prim::SetAttr) written_.push_back(node->input(0));
      const c10::FunctionSchema* schema = node->maybeSchema();
      if (schema == nullptr) return;
      for (size_t i = 0; i < std::min(schema->arguments().size(), node->inputs().size()); ++i) {
        const c10::AliasInfo* alias = schema->arguments()[i].alias_info();
        if (alias != nullptr && alias->isWrite()) written_.push_back(node->input(i));
      }
    });
  }

  // Whether any node writes to the value itself.
  bool Reach(const jit::Value* value) const { return aliases_.hasWriters(value); }
  // … or to values inside of it: hasWriters() does not look into containers. `opaque`: it may hold anything.
  bool ReachInto(jit::Value* value, bool opaque) const {
    if (Reach(value)) return true;
    if (opaque) return !written_.empty();
    if (!IsContainer(value->type()) || std::ranges::all_of(value->type()->containedTypes(), IsFixed)) return false;
    // Both may be many.
    if (const CallScope* scope = CallScope::Current()) scope->Poll();
    return std::ranges::any_of(written_, [&](jit::Value* written) {
      return Holds(value->type(), WithoutOptional(written->type())) && aliases_.mayContainAlias(value, written);
    });
  }

 private:
  const jit::AliasDb aliases_;
  std::vector<jit::Value*> written_;
};

// The same constant may be at several places of a function.
bool IsSame(const at::Tensor& one, const at::Tensor& other) {
  return one.const_data_ptr() == other.const_data_ptr() && one.sizes() == other.sizes() &&
         one.strides() == other.strides() && one.scalar_type() == other.scalar_type();
}

// One copy at the beginning of the function, instead of all places of this constant.
void CopyConstant(jit::Graph* graph, const jit::Node* written, const std::vector<jit::Node*>& constants) {
  if (!written->hasAttribute(c10::attr::value) || written->kindOf(c10::attr::value) != jit::AttributeKind::t) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "the model writes to a constant of type {}, which guests share",
          written->output()->type()->repr_str());
  }
  const at::Tensor& tensor = written->t(c10::attr::value);
  const jit::WithInsertPoint at_beginning(*graph->nodes().begin());
  jit::Value* copy = graph->insert(c10::aten::clone, {graph->insertConstant(tensor)});
  for (jit::Node* constant : constants) {
    const bool is_tensor =
        constant->hasAttribute(c10::attr::value) && constant->kindOf(c10::attr::value) == jit::AttributeKind::t;
    if (is_tensor && IsSame(constant->t(c10::attr::value), tensor)) constant->output()->replaceAllUsesWith(copy);
  }
}

// The constants that could change.
std::vector<jit::Node*> ConstantsOf(jit::Graph* graph) {
  std::vector<jit::Node*> constants;
  ForEachNode(graph->block(), [&](jit::Node* node) {
    if (node->kind() != c10::prim::Constant || node->mustBeNone() || IsFixed(node->output()->type())) return;
    constants.push_back(node);
  });
  return constants;
}

constexpr std::string_view kNewMemory[] = {
    "aten::empty",   "aten::empty_like", "aten::empty_strided",  "aten::new_empty", "aten::new_empty_strided",
    "aten::resize_", "aten::resize_as_", "aten::empty_permuted",
};

// Whether Module::eval() reached it: the model, its submodules, and theirs. It does not look into tuples, nor at
// objects that are no modules.
bool IsInEvaluation(const jit::Graph& graph, const jit::Value* object) {
  const jit::Value* const model = graph.inputs().at(0);
  while (object != model) {
    const auto type = object->type()->cast<c10::ClassType>();
    if (type == nullptr || !type->is_module() || object->node()->kind() != c10::prim::GetAttr) return false;
    object = object->node()->input(0);
  }
  return true;
}

// Modules are in evaluation: work that they would only do in training, such as counting values, is removed.
void AssumeEvaluation(std::shared_ptr<jit::Graph> graph) {
  std::vector<jit::Node*> asked;
  bool is_set = false;
  ForEachNode(graph->block(), [&](jit::Node* node) {
    const bool gets = node->kind() == c10::prim::GetAttr, sets = node->kind() == c10::prim::SetAttr;
    if ((!gets && !sets) || node->s(c10::attr::name) != "training") return;
    is_set = is_set || sets;
    if (!gets || node->output()->type()->kind() != c10::TypeKind::BoolType) return;
    if (IsInEvaluation(*graph, node->input(0))) asked.push_back(node);
  });
  if (is_set) return;
  for (jit::Node* node : asked) {
    const jit::WithInsertPoint before(node);
    node->output()->replaceAllUsesWith(graph->insertConstant(false));
  }
  // Not of tensors: nothing is computed here.
  jit::ConstantPropagationImmutableTypes(graph);
  jit::EliminateDeadCode(graph);
}

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

std::vector<std::shared_ptr<jit::Graph>> GraphsOf(const jit::Module& module) {
  std::vector<std::shared_ptr<jit::Graph>> graphs;
  for (jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    if (auto* graph_function = jit::tryToGraphFunction(*function)) graphs.push_back(graph_function->graph());
  }
  return graphs;
}

void RefuseFiles(const jit::Module& module) {
  for (const auto& graph : GraphsOf(module)) {
    ForEachNode(graph->block(), [](const jit::Node* node) {
      const std::string_view name = node->kind().toQualString();
      if (name != "aten::from_file" && name != "aten::save") return;
      Throw(WASINN_ERROR_SECURITY,
            "the model uses {}, which names a file: a model that is given as bytes must be whole", name);
    });
  }
}

void MakeLoopsCancellable(const jit::Module& module) {
  RegisterPoll();
  const auto poll = c10::Symbol::fromQualString("wasinn::poll");
  for (const auto& graph : GraphsOf(module)) {
    std::vector<jit::Block*> bodies;
    ForEachNode(graph->block(), [&](jit::Node* node) {
      if (node->kind() == c10::prim::Loop) bodies.push_back(node->blocks().at(0));
    });
    for (jit::Block* body : bodies) body->prependNode(graph->create(poll, /*num_outputs=*/0));
  }
}

void SaySilentAliases(const jit::Module& module) {
  for (const auto& graph : GraphsOf(module)) SaySilentAliases(graph.get());
}

void CopyWrittenConstants(const jit::Module& module) {
  for (const auto& graph : GraphsOf(module)) {
    const auto constants = ConstantsOf(graph.get());
    if (constants.empty()) continue;
    const auto seen = graph->copy();
    const auto constants_seen = ConstantsOf(seen.get());  // the same ones
    MarkSilentWrites(seen.get());
    UnmarkEvaluation(seen.get());
    const Writes writes(seen);
    for (size_t i = 0; i < constants.size(); ++i) {
      // No copy of the model is one of its constants, so an object among them may not change either.
      const c10::TypePtr& type = constants[i]->output()->type();
      const bool written = writes.ReachInto(constants_seen[i]->output(), IsOpaque(type) || HasClass(type));
      if (written && constants[i]->output()->hasUses()) CopyConstant(graph.get(), constants[i], constants);
    }
  }
}

Effects FindEffects(const jit::Method& method) {
  const auto graph = jit::toGraphFunction(method.function()).graph()->copy();
  jit::Inline(*graph);
  MarkSilentWrites(graph.get());  // before anything is removed from the graph: an operator's result may have no use
  AssumeEvaluation(graph);
  UnmarkEvaluation(graph.get());
  Effects effects;
  const Writes writes(graph);
  ForEachNode(graph->block(), [&](jit::Node* node) {
    const std::string name = node->kind().toQualString();
    if (std::ranges::find(kNewMemory, name) != std::end(kNewMemory)) effects.shows_new_memory = true;
    if (name == "prim::SetAttr" || name == "prim::fork" || name == "prim::awaitable") effects.stateful = true;
    // A call that could not be inlined may do anything.
    if (name == "prim::CallMethod" || name == "prim::CallFunction") effects.stateful = true;
    if (effects.stateful || name != "prim::GetAttr" || IsFixed(node->output()->type())) return;
    effects.stateful = writes.ReachInto(node->output(), IsOpaque(node->output()->type()));
  });
  for (jit::Value* input : graph->inputs().slice(1)) {
    effects.writes_input.push_back(writes.ReachInto(input, IsOpaque(input->type())));
  }
  return effects;
}

void PutOn(const c10::Device& device, const jit::Module& module) {
  for (const auto& graph : GraphsOf(module)) PutOn(device, graph.get());
  for (const jit::Module& one : module.modules()) {
    for (const auto& attribute : one.named_attributes(/*recurse=*/false)) {
      if (attribute.value.isDevice() && NamesGpu(attribute.value)) one._ivalue()->setAttr(attribute.name, device);
    }
  }
}

}  // namespace wasinn::torch
