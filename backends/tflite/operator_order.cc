#include "tflite/operator_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/saturating.h"
#include "tflite/schema.h"

namespace wasinn::tflite {

namespace {

// Whether a tensor needs no operator that gives it.
bool HasValue(const FlatTable& tensor, const FlatVector& buffers, Trust trust) {
  return trust == Trust::kHost || IsConstant(tensor, buffers) || tensor.Get<uint8_t>(TensorField::kVariable, 0) != 0 ||
         BytesOf(tensor.Vector(TensorField::kShape, 4)) == 0;
}

}  // namespace

void ThrowInvalid(const std::string& what) {
  throw backend::Error(WASINN_INVALID_ENCODING, fmt::format("broken model: {}", what));
}

uint64_t BytesOf(const FlatVector& shape) {
  uint64_t bytes = 1;
  for (uint32_t d = 0; d < shape.size(); ++d) {
    const auto dim = static_cast<uint64_t>(std::max(shape.Get<int32_t>(d), 0));
    bytes = backend::MulSat(bytes, dim);
  }
  return bytes;
}

bool IsConstant(const FlatTable& tensor, const FlatVector& buffers) {
  const auto index = tensor.Get<uint32_t>(TensorField::kBuffer, 0);
  if (index >= buffers.size()) return false;
  const FlatTable buffer = buffers.Table(index);
  return buffer.Vector(BufferField::kData, 1).size() > 0 || buffer.Get<uint64_t>(BufferField::kSize, 0) > 0;
}

void CheckOrder(const FlatTable& graph, const FlatVector& buffers, Trust trust) {
  const FlatVector tensors = graph.Vector(GraphField::kTensors, 4);
  const FlatVector operators = graph.Vector(GraphField::kOperators, 4);
  std::vector<bool> pending(tensors.size());  // that an operator yet to come gives
  const auto each = [&](uint32_t op, int field, const auto& visit) {
    const FlatVector indices = operators.Table(op).Vector(field, 4);
    for (uint32_t i = 0; i < indices.size(); ++i) {
      const auto tensor = indices.Get<int32_t>(i);
      if (tensor >= 0) visit(static_cast<uint32_t>(tensor));
    }
  };
  for (uint32_t op = 0; op < operators.size(); ++op) {
    each(op, OperatorField::kOutputs, [&](uint32_t tensor) {
      if (pending[tensor]) ThrowInvalid(fmt::format("tensor {} comes from two operators", tensor));
      pending[tensor] = true;
    });
  }
  // XNNPACK also believes that somebody gives what an operator takes. Of each tensor once: a great many operators may
  // share one, and its shape may be long.
  std::vector<bool> given = pending;
  const FlatVector inputs = graph.Vector(GraphField::kInputs, 4);
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const auto tensor = inputs.Get<int32_t>(i);
    if (tensor >= 0 && static_cast<uint32_t>(tensor) < given.size()) given[static_cast<uint32_t>(tensor)] = true;
  }
  for (uint32_t i = 0; i < tensors.size(); ++i) given[i] = given[i] || HasValue(tensors.Table(i), buffers, trust);
  for (uint32_t op = 0; op < operators.size(); ++op) {
    each(op, OperatorField::kInputs, [&](uint32_t tensor) {
      if (!given[tensor]) ThrowInvalid(fmt::format("an operator takes tensor {}, which nothing gives", tensor));
      if (pending[tensor]) ThrowInvalid(fmt::format("an operator takes tensor {} before it is there", tensor));
    });
    each(op, OperatorField::kOutputs, [&](uint32_t tensor) { pending[tensor] = false; });
  }
}

std::vector<Lifetime> LivesOf(const FlatTable& graph, const FlatVector& buffers) {
  const FlatVector tensors = graph.Vector(GraphField::kTensors, 4);
  const FlatVector operators = graph.Vector(GraphField::kOperators, 4);
  std::vector<Lifetime> lives(tensors.size());
  std::vector<bool> lasts(tensors.size());
  for (uint32_t i = 0; i < tensors.size(); ++i) lasts[i] = IsConstant(tensors.Table(i), buffers);
  for (uint32_t op = 0; op < operators.size(); ++op) {
    const FlatVector inputs = operators.Table(op).Vector(OperatorField::kInputs, 4);
    const FlatVector outputs = operators.Table(op).Vector(OperatorField::kOutputs, 4);
    bool of_constants = true;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      const auto tensor = inputs.Get<int32_t>(i);
      if (tensor < 0) continue;
      Lifetime& life = lives[static_cast<uint32_t>(tensor)];
      life.last = std::max(life.last, op);
      of_constants = of_constants && lasts[static_cast<uint32_t>(tensor)];
    }
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const auto tensor = outputs.Get<int32_t>(i);
      if (tensor < 0) continue;
      lasts[static_cast<uint32_t>(tensor)] = of_constants;
      lives[static_cast<uint32_t>(tensor)] = {
          .computed = true, .first = of_constants ? 0 : op, .last = of_constants ? operators.size() - 1 : op};
    }
  }
  return lives;
}

}  // namespace wasinn::tflite
