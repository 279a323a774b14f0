#include "torch/op_libraries.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <set>

#include "common/throw.h"
#include "torch/graph_check.h"

namespace wasinn::torch {

namespace {

using Names = std::set<std::string, std::less<>>;

struct Known {
  std::mutex mutex;
  Names of_libraries;
};

Known& Libraries() {
  static Known known;
  return known;
}

// A class has the type of its methods' first argument.
Names AllNames() {
  Names names;
  for (const c10::OperatorName& one : c10::Dispatcher::singleton().getAllOpNames()) names.insert(one.name);
  for (const c10::FunctionSchema& method : ::torch::customClassSchemasForBCCheck()) {
    if (!method.arguments().empty()) names.insert(method.arguments()[0].type()->repr_str());
  }
  return names;
}

}  // namespace

void OpenOpLibraries(std::span<const std::string> paths) {
  if (paths.empty()) return;
  Known& known = Libraries();
  const std::lock_guard lock(known.mutex);
  const Names before = AllNames();
  for (const std::string& path : paths) {
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      backend::Throw(WASINN_ERROR_INVALID_ARGUMENT, "op_libraries: {}", dlerror());
    }
  }
  std::ranges::set_difference(AllNames(), before, std::inserter(known.of_libraries, known.of_libraries.end()));
}

void CheckHasNoneOfLibraries(const ::torch::jit::Module& module) {
  Known& known = Libraries();
  const std::lock_guard lock(known.mutex);
  if (known.of_libraries.empty()) return;
  const auto check = [&](const std::string& name) {
    if (!known.of_libraries.contains(name)) return;
    backend::Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
                   "the model has {}, whose library the key op_libraries of this model does not list", name);
  };
  for (const auto& graph : GraphsOf(module)) {
    ForEachNode(graph->block(), [&](::torch::jit::Node* node) {
      check(node->kind().toQualString());
      for (const ::torch::jit::Value* output : node->outputs()) check(output->type()->repr_str());
    });
  }
}

}  // namespace wasinn::torch
