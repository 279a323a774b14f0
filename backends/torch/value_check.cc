#include "torch/value_check.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>

#include <optional>
#include <unordered_set>

#include "common/error.h"
#include "torch/allocator.h"
#include "torch/graph_check.h"

namespace wasinn::torch {

using backend::Error;
namespace jit = ::torch::jit;

namespace {

// Wide enough for any sum of products that is looked at here.
__extension__ using Wide = __int128;

[[noreturn]] void Broken(const char* why) {
  throw Error(WASINN_INVALID_ENCODING, fmt::format("a tensor of the model is broken: {}", why));
}

void CheckTensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return;
  if (!tensor.has_storage()) Broken("it has no memory");
  Wide last = tensor.storage_offset();
  if (last < 0) Broken("it begins before its memory");
  bool empty = false;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    const int64_t size = tensor.sizes()[static_cast<size_t>(i)], stride = tensor.strides()[static_cast<size_t>(i)];
    if (size < 0 || stride < 0) Broken("it has a negative size or stride");
    empty = empty || size == 0;
    last += static_cast<Wide>(size - 1) * stride;
    if (last > INT64_MAX) Broken("it is larger than any memory");
  }
  if (empty) return;
  const std::optional<size_t> allocated = AllocatedBytes(tensor.storage().data_ptr());
  if (!allocated) Broken("its memory is not of the model");
  if ((last + 1) * static_cast<Wide>(tensor.element_size()) > static_cast<Wide>(*allocated)) {
    Broken("it reaches beyond its memory");
  }
  // What PyTorch believes of the memory is what later views are checked against.
  if (tensor.storage().nbytes() > *allocated) Broken("its memory is smaller than the model says");
}

class ValueChecker {
 public:
  void Check(const c10::IValue& value) {
    if (value.isTensor()) {
      CheckTensor(value.toTensor());
    } else if (value.isTuple()) {
      if (!IsNew(value)) return;
      for (const c10::IValue& element : value.toTupleRef().elements()) Check(element);
    } else if (value.isList()) {
      if (!IsNew(value)) return;
      for (const c10::IValue& element : value.toListRef()) Check(element);
    } else if (value.isGenericDict()) {
      if (!IsNew(value)) return;
      for (const auto& entry : value.toGenericDict()) Check(entry.key()), Check(entry.value());
    } else if (value.isObject()) {
      if (!IsNew(value)) return;
      for (const c10::IValue& slot : value.toObjectRef().slots()) Check(slot);
    } else if (value.isCapsule()) {
      Broken("it is an object of PyTorch's own");
    }
  }

 private:
  // Values may be shared, many times over.
  bool IsNew(const c10::IValue& value) { return seen_.insert(value.internalToPointer()).second; }

  std::unordered_set<const void*> seen_;
};

void CheckConstants(jit::Block* block) {
  for (const jit::Node* node : block->nodes()) {
    if (node->kind() == c10::prim::Constant && node->hasAttribute(c10::attr::value)) {
      const auto kind = node->kindOf(c10::attr::value);
      if (kind == jit::AttributeKind::t) CheckTensor(node->t(c10::attr::value));
      if (kind == jit::AttributeKind::ival) ValueChecker().Check(node->ival(c10::attr::value));
    }
    for (const jit::Block* inner : node->blocks()) CheckConstants(const_cast<jit::Block*>(inner));
  }
}

}  // namespace

void CheckTensors(const jit::Module& module) {
  ValueChecker().Check(module._ivalue());
  for (jit::Function* function : FunctionsOf(module)) {
    const auto* graph_function = jit::tryToGraphFunction(*function);
    if (graph_function != nullptr) CheckConstants(graph_function->graph()->block());
  }
}

}  // namespace wasinn::torch
