// Operators whose schemas hide that a result shares an argument's memory, or that an argument is written: the backend knows them all. All operators
// are called to find them, and PyTorch's analysis of aliases shows what it knows of each.
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/alias_analysis.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "backends/torch_calls.h"
#include "torch/graph_check.h"

namespace wasinn::test {
namespace {

namespace jit = ::torch::jit;

// It may clamp its indices in place. Only code that PyTorch's compiler makes calls it.
constexpr const char* kOfTheCompiler = "aten::_unsafe_masked_index";

const std::vector<std::shared_ptr<jit::Operator>>& Operators() {
  static const auto all = TensorOperators();
  return all;
}

const std::vector<Seen>& AllSeen() {
  static const auto all = CallEach(Operators());
  return all;
}

// A function with one call of an operator.
struct Caller {
  // `of_list`: how many tensors are in the list at `argument`.
  explicit Caller(const c10::FunctionSchema& schema, size_t argument = 0, size_t of_list = 0) {
    std::vector<jit::Value*> given;
    for (const c10::Argument& one : schema.arguments()) {
      given.push_back(given.size() == argument && of_list > 0 ? List(of_list) : Value(one.type()));
    }
    const auto name = c10::Symbol::fromQualString(schema.name());
    node = graph->insertNode(graph->create(name, given, schema.returns().size()));
    for (size_t i = 0; i < node->outputs().size(); ++i) node->output(i)->setType(schema.returns()[i].type());
  }

  // A tensor has memory of its own.
  jit::Value* Value(const c10::TypePtr& type) {
    jit::Value* const input = graph->addInput();
    if (!type->isSubtypeOf(*c10::OptionalType::ofTensor())) return input->setType(type);
    input->setType(c10::TensorType::get());
    return graph->insert(c10::aten::neg, {input});
  }
  jit::Value* List(size_t n) {
    std::vector<jit::Value*> tensors;
    for (size_t i = 0; i < n; ++i) tensors.push_back(Value(c10::TensorType::get()));
    return graph->insertNode(graph->createList(c10::TensorType::get(), tensors))->output();
  }

  const std::shared_ptr<jit::Graph> graph = std::make_shared<jit::Graph>();
  jit::Node* node = nullptr;
};

// The values that code after the call uses as its results.
std::vector<jit::Value*> Results(const Caller& caller) {
  const std::vector<jit::Value*> results(caller.node->outputs().begin(), caller.node->outputs().end());
  jit::Node* const end = caller.graph->insertNode(caller.graph->create(c10::prim::Print, results, 0));
  torch::SaySilentAliases(caller.graph.get());
  torch::MarkSilentWrites(caller.graph.get());
  return {end->inputs().begin(), end->inputs().end()};
}

bool IsKnown(const Seen& seen) {
  const c10::FunctionSchema& schema = Operators()[seen.op]->schema();
  if (schema.arguments()[seen.argument].alias_info() != nullptr) return true;
  const Caller caller(schema, seen.argument, seen.of_list);
  const auto results = Results(caller);
  const jit::AliasDb aliases(caller.graph);
  jit::Value* const argument = caller.node->input(seen.argument);
  return aliases.hasWriters(argument) || (!seen.written && aliases.mayContainAlias(argument, results[seen.result]));
}

TEST(TorchSilent, OperatorsThatShareOrWriteAreKnown) {
  std::set<std::string> unknown;
  for (const Seen& seen : AllSeen()) {
    const c10::FunctionSchema& schema = Operators()[seen.op]->schema();
    if (schema.name().starts_with(kOfTheCompiler) || IsKnown(seen)) continue;
    const std::string what = seen.written ? " is written: " : " is shared: ";
    unknown.insert(schema.arguments()[seen.argument].name() + what + toString(schema));
  }
  EXPECT_TRUE(unknown.empty()) << ::testing::PrintToString(unknown);
}

// Else a model that writes to a new tensor counts as one that writes to its own.
TEST(TorchSilent, OperatorsThatAreKnownShare) {
  std::set<std::string> sharing, known;
  for (const Seen& seen : AllSeen()) {
    if (!seen.written) sharing.insert(Operators()[seen.op]->schema().name());
  }
  for (const auto& op : Operators()) {
    const Caller caller(op->schema());
    if (!std::ranges::equal(caller.node->outputs(), Results(caller))) known.insert(op->schema().name());
  }
  std::vector<std::string> idle;
  std::ranges::set_difference(known, sharing, std::back_inserter(idle));
  // The calls do not make every layout of sparse tensors. All of their constructors have similar names.
  std::erase_if(idle, [](const std::string& name) { return name.contains("sparse_") && name.contains("_tensor"); });
  EXPECT_TRUE(idle.empty()) << ::testing::PrintToString(idle);
}

}  // namespace
}  // namespace wasinn::test
